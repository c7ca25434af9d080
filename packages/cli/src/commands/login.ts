import { Fernpost, FernpostError } from '@fernpost/sdk';
import { Command } from 'commander';
import { UsageError } from '../errors.ts';
import { print } from '../output.ts';
import { askSecret } from '../prompt.ts';
import { readSettings, settingsFile, targetOf, writeSettings } from '../settings.ts';

/** `fernpost login`: checks a key and keeps it. */
export function loginCommand(): Command {
  return new Command('login')
    .description('store the key of a project, under --profile; prompts for it, or reads it from a pipe or --key-file')
    .action(async (_, command: Command) => {
      const { key: given, keyFile } = command.optsWithGlobals<{ key?: string; keyFile?: string }>();
      const { url, key: read, profile } = targetOf(command);
      const key = given || keyFile ? (read ?? '') : await askSecret('Key: ');
      if (!/^(sk|rk)_/.test(key))
        throw new UsageError('A key begins with rk_ or sk_: create one under Settings, Keys.');
      await check(new Fernpost({ baseUrl: url, key }));
      const { profiles } = readSettings();
      writeSettings({ current: profile, profiles: { ...profiles, [profile]: { url, key } } });
      const file = settingsFile();
      print(
        command,
        { url, file, profile },
        `Logged in to ${url} as profile "${profile}". The key is in ${file}, which only you can read.`,
      );
    });
}

async function check(client: Fernpost): Promise<void> {
  try {
    await client.emails.list({ limit: 1, from: new Date(Date.now() - 3_600_000).toISOString() });
  } catch (error) {
    // A key that may do something else is a key.
    if (!(error instanceof FernpostError && error.status === 403)) throw error;
  }
}

import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Fernpost, FernpostError } from '@fernpost/sdk';
import { Command } from 'commander';
import { UsageError } from '../errors.ts';
import { print } from '../output.ts';
import { loginOf, saveLogin, settingsFile } from '../settings.ts';

/** `fernpost login`: checks a key and keeps it. */
export function loginCommand(): Command {
  return new Command('login')
    .description('store the key of a project; prompts for it, or reads it from a pipe')
    .action(async (_, command: Command) => {
      const { url } = loginOf(command);
      const key = (command.optsWithGlobals<{ key?: string }>().key ?? (await askForKey())).trim();
      if (!/^(sk|rk)_/.test(key))
        throw new UsageError('A key begins with rk_ or sk_: create one under Settings, Keys.');
      await check(new Fernpost({ baseUrl: url, key }));
      saveLogin({ url, key });
      const file = settingsFile();
      print(command, { url, file }, `Logged in to ${url}. The key is in ${file}, which only you can read.`);
    });
}

async function check(client: Fernpost): Promise<void> {
  try {
    await client.call('listEmails', { query: { limit: 1, from: new Date(Date.now() - 3_600_000).toISOString() } });
  } catch (error) {
    // A key that may do something else is a key.
    if (!(error instanceof FernpostError && error.status === 403)) throw error;
  }
}

async function askForKey(): Promise<string> {
  if (!process.stdin.isTTY) return text(process.stdin);
  process.stderr.write('Key: ');
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: silent, terminal: true });
  try {
    return await lines.question('');
  } finally {
    lines.close();
    process.stderr.write('\n');
  }
}

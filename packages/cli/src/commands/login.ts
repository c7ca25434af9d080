import { Fernpost, FernpostError, urlOf } from '@fernpost/sdk';
import { Command } from 'commander';
import { readSettings, type Settings, settingsFile, targetOf, writeSettings } from '../settings.ts';
import { ask, askSecret, print, printList, UsageError } from '../terminal.ts';

/** Somebody who is signed in: keys cannot make keys. */
interface Member {
  projectId: string;
  request(method: string, path: string, body?: object): Promise<unknown>;
}

interface MemberOptions {
  email?: string;
  project?: string;
}

/**
 * Signs a member in with a password, which is asked for or read from a pipe, does the work, and signs out.
 * @throws UsageError where it is not clear which project is meant
 */
export async function asMember<Value>(command: Command, work: (member: Member) => Promise<Value>): Promise<Value> {
  const { email, project } = command.opts<MemberOptions>();
  const { url } = targetOf(command);
  const address = email ?? process.env.FERNPOST_EMAIL ?? (process.stdin.isTTY ? await ask('Email: ') : '');
  if (address === '') throw new UsageError('Only members can do this: name yours with --email or FERNPOST_EMAIL.');
  const credentials = { email: address, password: await askSecret('Password: ') };
  const signedIn = await send(url, 'POST', '/auth/login', credentials);
  const cookie = signedIn.headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .join('; ');
  const request: Member['request'] = async (method, path, body) => {
    const response = await send(url, method, path, body, cookie);
    return response.status === 204 ? undefined : await response.json();
  };
  try {
    const projects = (await request('GET', '/users/@me/projects')) as { id: string; name: string }[];
    return await work({ projectId: projectOf(projects, project), request });
  } finally {
    await send(url, 'GET', '/auth/logout', undefined, cookie).catch(() => undefined);
  }
}

function projectOf(projects: readonly { id: string; name: string }[], wanted: string | undefined): string {
  const found = projects.filter(({ id, name }) => wanted === undefined || id === wanted || name === wanted);
  const [only] = found;
  if (only !== undefined && found.length === 1) return only.id;
  const names = projects.map(({ name }) => name).join(', ');
  throw new UsageError(
    wanted === undefined
      ? `Which project? --project names one of ${names}.`
      : `You have no single project "${wanted}".`,
  );
}

async function send(url: string, method: string, path: string, body?: object, cookie?: string): Promise<Response> {
  const response = await fetch(urlOf(url, path), {
    method,
    redirect: 'manual',
    headers: {
      ...(cookie === undefined ? {} : { cookie }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000),
  });
  if (response.status < 400) return response;
  throw new FernpostError(response.status, await response.json().catch(() => null), response.headers);
}

/** `fernpost profiles list|use|remove`. */
export function profileCommands(): Command {
  return new Command('profiles')
    .description('logins by name: one for each project or service')
    .addCommand(
      new Command('list')
        .description('every profile; * marks the one that is used when none is named')
        .action((_, command: Command) => {
          const { current, profiles } = readSettings();
          const rows = Object.entries(profiles).map(([name, { url }]) => ({ name, url, current: name === current }));
          printList(
            command,
            rows,
            (row) => [row.current ? '*' : ' ', row.name, row.url],
            'No profiles: run "fernpost login".',
          );
        }),
      { isDefault: true },
    )
    .addCommand(
      new Command('use')
        .description('use a profile when none is named')
        .argument('<profile>')
        .action((profile: string, _, command: Command) => {
          const settings = withProfile(profile);
          writeSettings({ ...settings, current: profile });
          print(command, { current: profile }, `Commands use "${profile}" now: ${settings.profiles[profile]?.url}`);
        }),
    )
    .addCommand(
      new Command('remove')
        .description('forget a profile and its key')
        .argument('<profile>')
        .action((profile: string, _, command: Command) => {
          const { current, profiles } = withProfile(profile);
          const { [profile]: removed, ...others } = profiles;
          writeSettings({ current, profiles: others });
          print(command, { removed: profile }, `Removed "${profile}" (${removed?.url}). The key itself stays valid.`);
        }),
    );
}

function withProfile(name: string): Settings {
  const settings = readSettings();
  if (settings.profiles[name] !== undefined) return settings;
  const names = Object.keys(settings.profiles).join(', ');
  throw new UsageError(`There is no profile "${name}"${names === '' ? '' : `; there is ${names}`}.`);
}

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

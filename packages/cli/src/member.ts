import { FernpostError, urlOf } from '@fernpost/sdk';
import type { Command } from 'commander';
import { UsageError } from './errors.ts';
import { ask, askSecret } from './prompt.ts';
import { targetOf } from './settings.ts';

/** Somebody who is signed in: keys cannot make keys. */
export interface Member {
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

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { eventually } from '../../packages/local-stack/test/fakes.ts';
import { aPlace, type Place, startIn } from '../support/npm-start.ts';

const minutes = 60_000;
const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
const [install = '', ...snippets] = [...readme.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(
  ([, snippet = '']) => snippet,
);

interface Mail {
  to: { email: string }[];
  subject: string;
  html: string;
}

/** What the inbox has, by subject. */
async function inbox(place: Place): Promise<Mail[]> {
  const { messages } = (await (await fetch(`${place.sandboxUrl}/api/messages`)).json()) as {
    messages: { id: string }[];
  };
  const mails = await Promise.all(
    messages.map(async ({ id }) => (await fetch(`${place.sandboxUrl}/api/messages/${id}`)).json() as Promise<Mail>),
  );
  return mails.sort((one, other) => one.subject.localeCompare(other.subject));
}

test(
  'the snippets of the README, pasted in order, end in a received campaign',
  async () => {
    expect(install).toBe('npm ci && npm start\n');
    using place = await aPlace();
    await using run = startIn(place);
    await run.untilReady();
    const script = snippets
      .join('\n')
      .replaceAll('./.data/', `${place.dataDir}/`)
      .replaceAll('http://localhost:3000', place.baseUrl);
    // A status that is no success fails the snippet.
    const { stdout } = await promisify(execFile)('bash', [
      '-euo',
      'pipefail',
      '-c',
      `curl() { command curl -sS --fail-with-body "$@"; }\n${script}`,
    ]);
    expect(stdout).toContain('"totalRecipients":1');
    await eventually(async () => (await inbox(place)).length === 2, minutes);
    const to = [{ email: 'ada@example.com' }];
    expect(await inbox(place)).toMatchObject([
      { to, subject: 'Hello Ada', html: expect.stringContaining('Welcome, Ada!') },
      {
        to,
        subject: 'News for ada@example.com',
        html: expect.stringContaining('You are on the pro plan.'),
      },
    ]);
  },
  4 * minutes,
);

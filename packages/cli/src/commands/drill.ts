import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Fernpost, urlOf } from '@fernpost/sdk';
import { Command, InvalidArgumentError } from 'commander';
import { clientOf, keyedTargetOf } from '../settings.ts';
import { isJson, print, table, UsageError } from '../terminal.ts';

interface Options {
  emails: number;
  from?: string;
  minutes: number;
}

/** The outcome of the emails of a drill. */
interface Balance {
  sent: number;
  /** Requests whose response was thrown away after the service had done them. */
  lostResponses: number;
  delivered: number;
  missing: string[];
  repeated: string[];
  unfinished: number;
}

// Faults of the sandbox, as Postmark sometimes has them: the last one takes the mail and cuts the connection.
const faults = [
  { kind: 'status', status: 500, times: 2 },
  { kind: 'status', status: 429, retryAfter: 1, times: 1 },
  { kind: 'hang', ms: 2_000, times: 1 },
  { kind: 'drop-answer', times: 2 },
];
const perBatch = 50;
// Statuses of an email that is still on its way.
const open = ['PENDING', 'SENDING'] as const;

/** `fernpost drill`. */
export function drillCommand(): Command {
  return new Command('drill')
    .description(
      'send to the mail sandbox while responses get lost and the provider fails, and check that each email arrives once',
    )
    .option('--emails <number>', '50 to 500', wholeNumber(50, 500), 200)
    .option('--from <address>', 'sender; an address of the first verified domain when absent')
    .option('--minutes <number>', 'when to give up', wholeNumber(1, 60), 5)
    .addHelpText(
      'after',
      `
It needs a service with the mail sandbox, such as that of npm start, and the secret key. Nothing leaves the machine. In the source tree,
"npm run drill" goes further: it starts a stack of its own and kills its processes while it sends.`,
    )
    .action(drill);
}

async function drill(options: Options, command: Command): Promise<void> {
  const client = clientOf(command);
  const sandbox = await sandboxOf(client);
  const from = options.from ?? (await senderOf(client));
  const run = randomBytes(4).toString('hex');
  const say = (line: string) => isJson(command) || console.error(line);
  const addresses = Array.from({ length: options.emails }, (_, n) => `drill-${run}-${n}@example.com`);
  const lossy = lossyFetch();
  const sender = new Fernpost({ ...keyedClient(command), retries: 5, fetch: lossy.fetch });
  try {
    for (const fault of faults) await callSandbox(sandbox, 'POST', '/api/faults', fault);
    say(
      `Sending ${addresses.length} emails from ${from}. Every other response gets lost, and the provider fails now and then.`,
    );
    for (let start = 0; start < addresses.length; start += perBatch) {
      const emails = addresses
        .slice(start, start + perBatch)
        .map((to) => ({ to, from, subject: `Drill ${run}`, body: '<p>A drill.</p>', tags: { drill: run } }));
      await sender.sendBatch({ emails });
    }
    say('Waiting until every email has left.');
    const unfinished = await finished(client, run, Date.now() + options.minutes * 60_000);
    const rows = await arrived(sandbox, run, addresses);
    report({ sent: addresses.length, lostResponses: lossy.lost(), unfinished, ...rows }, command);
  } finally {
    await callSandbox(sandbox, 'DELETE', '/api/faults');
  }
}

function report(balance: Balance, command: Command): void {
  const { missing, repeated, unfinished } = balance;
  print(command, balance, describe(balance));
  if (missing.length + repeated.length + unfinished > 0) throw new Error('The balance does not add up.');
}

function describe({ sent, lostResponses, delivered, missing, repeated, unfinished }: Balance): string {
  const rows = [
    ['emails sent', sent],
    ['responses lost and replayed', lostResponses],
    ['arrived once', delivered],
    ['missing', missing.length],
    ['arrived more than once', repeated.length],
    ['still on their way', unfinished],
  ];
  const examples = [...missing.slice(0, 3).map((to) => `- ${to}`), ...repeated.slice(0, 3).map((to) => `+ ${to}`)];
  const verdict =
    delivered === sent && repeated.length + unfinished === 0 ? ['', 'Balanced: every email arrived once.'] : [];
  return [table(rows), ...examples, ...verdict].join('\n');
}

/** How many emails of the run have not left when all have, or when the time is over. */
async function finished(client: Fernpost, run: string, end: number): Promise<number> {
  for (;;) {
    let left = 0;
    for (const status of open)
      left += (await client.emails.list({ tag: `drill:${run}`, status, limit: 100 }).all()).length;
    if (left === 0 || Date.now() > end) return left;
    await sleep(2_000);
  }
}

/** Compares the mail that the sandbox took in the run with its recipients. */
async function arrived(sandbox: string, run: string, addresses: readonly string[]) {
  const counts = new Map<string, number>();
  for (let before = ''; ; ) {
    const query = new URLSearchParams({ subject: `Drill ${run}`, limit: '100', ...(before && { before }) });
    const { messages } = await callSandbox(sandbox, 'GET', `/api/messages?${query}`);
    for (const { to } of messages) for (const { email } of to) counts.set(email, (counts.get(email) ?? 0) + 1);
    const oldest = messages.at(-1);
    if (oldest === undefined) break;
    before = oldest.id;
  }
  return {
    delivered: addresses.filter((to) => counts.get(to) === 1).length,
    missing: addresses.filter((to) => !counts.has(to)),
    repeated: addresses.filter((to) => (counts.get(to) ?? 0) > 1),
  };
}

/** The sandbox of a service. @throws UsageError for one with a real provider, which a drill would annoy */
async function sandboxOf(client: Fernpost): Promise<string> {
  const [project] = await client.call('listProjects');
  const { data } = await client.call('getProjectSetupState', { path: { id: project?.id ?? '' } });
  if (data.links.inbox !== null) return data.links.inbox;
  throw new UsageError(
    'A drill needs a service with the mail sandbox, on this machine: npm start in the source tree runs one, and "npm run drill" there also kills its processes.',
  );
}

async function senderOf(client: Fernpost): Promise<string> {
  const domain = (await client.domains.list()).data.find(({ verified }) => verified);
  if (domain === undefined)
    throw new UsageError('The project has no verified domain: "fernpost domains add" adds one.');
  return `drill@${domain.domain}`;
}

interface SandboxPage {
  messages: { id: string; to: { email: string }[] }[];
}

async function callSandbox(sandbox: string, method: string, path: string, body?: object): Promise<SandboxPage> {
  const response = await fetch(urlOf(sandbox, path), {
    method,
    ...(body === undefined ? {} : { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`The mail sandbox responded with ${response.status}.`);
  return (await response.json()) as SandboxPage;
}

/** A `fetch` that loses every other response after the service has done its work; the client repeats with the same key. */
function lossyFetch(): { fetch: typeof fetch; lost(): number } {
  let calls = 0;
  let lost = 0;
  const lossy: typeof fetch = async (url, init) => {
    const response = await fetch(url, init);
    if (++calls % 2 === 0 || !response.ok) return response;
    lost += 1;
    await response.body?.cancel();
    throw new TypeError('The drill lost this response.');
  };
  return { fetch: lossy, lost: () => lost };
}

function keyedClient(command: Command): { baseUrl: string; key: string } {
  const { url, key } = keyedTargetOf(command);
  return { baseUrl: url, key };
}

function wholeNumber(least: number, most: number) {
  return (value: string): number => {
    const number = Number(value);
    if (Number.isInteger(number) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`Use a whole number from ${least} to ${most}.`);
  };
}

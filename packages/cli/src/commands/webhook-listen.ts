import { createHmac, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Item } from '@fernpost/sdk';
import { Command } from 'commander';
import { UsageError } from '../errors.ts';
import { isJson } from '../output.ts';
import { clientOf } from '../settings.ts';

type Event = Item<'listEvents'>;

// As many as one answer has: more events than this between two looks are named as missed.
const most = 1_000;

/** `fernpost webhooks listen`. */
export function listenCommand(): Command {
  return new Command('listen')
    .description(
      'forward new events to a server on your machine, signed as webhooks are. It reads the events every second: nothing has to reach your machine, and a call is tried once',
    )
    .requiredOption('--forward <address>', 'such as localhost:4000 or http://localhost:4000/hooks')
    .option('--events <names>', 'names and prefixes such as email.bounce,contact.*', '*')
    .option('--secret <secret>', 'whsec_… to sign with; a new one when absent')
    .action(listen);
}

async function listen(options: { forward: string; events: string; secret?: string }, command: Command): Promise<void> {
  const client = clientOf(command);
  const target = targetOf(options.forward);
  const secret = options.secret ?? `whsec_${randomBytes(24).toString('base64')}`;
  const matches = matcherOf(options.events);
  const seen = new Set((await client.events.list({ limit: most })).data.map(({ id }) => id));
  console.error(`Forwarding to ${target}. Signing secret: ${secret}`);
  if (isJson(command)) console.log(JSON.stringify({ ready: true, target, secret }));
  for (;;) {
    const { data: events } = await client.events.list({ limit: most });
    const fresh = events.filter(({ id }) => !seen.has(id));
    if (events.length === most && fresh.length === most)
      console.error('Too many events happened at once; some were missed.');
    for (const event of fresh.reverse()) {
      seen.add(event.id);
      if (!matches(event.name)) continue;
      const answer = await forward(event, target, secret);
      console.log(
        isJson(command)
          ? JSON.stringify({ id: event.id, type: event.name, answer })
          : `${event.createdAt}  ${event.name}  ${answer}`,
      );
    }
    // What has left the answer never returns.
    for (const id of seen) if (seen.size > 2 * most) seen.delete(id);
    await sleep(1_000);
  }
}

/** One call as the service makes it; answers the status, or why there is none. */
async function forward(event: Event, target: URL, secret: string): Promise<number | string> {
  const contact = event.contactId === null ? null : { id: event.contactId, email: event.contact?.email ?? null };
  const body = JSON.stringify({
    type: event.name,
    timestamp: event.createdAt,
    data: {
      event: { id: event.id, name: event.name, ...(event.dataOmitted ? {} : { data: event.data }) },
      contact,
      email: event.emailId === null ? null : { id: event.emailId },
    },
    ...(event.dataOmitted ? { truncated: true } : {}),
  });
  const id = `evt_${event.id}`;
  const at = Math.floor(Date.now() / 1_000);
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64');
  try {
    const response = await fetch(target, {
      method: 'POST',
      redirect: 'manual',
      signal: AbortSignal.timeout(15_000),
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(at),
        'webhook-signature': `v1,${signature}`,
      },
      body,
    });
    await response.body?.cancel();
    return response.status;
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    return `no answer: ${cause}`;
  }
}

function targetOf(address: string): URL {
  const url = /^https?:\/\//i.test(address) ? address : `http://${address}`;
  if (!URL.canParse(url)) throw new UsageError(`"${address}" is not a valid address. A valid one: localhost:4000.`);
  return new URL(url);
}

function matcherOf(names: string): (name: string) => boolean {
  const wanted = names.split(',').map((name) => name.trim());
  return (name) => wanted.some((one) => (one.endsWith('*') ? name.startsWith(one.slice(0, -1)) : name === one));
}

import { createHmac, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Item } from '@fernpost/sdk';
import { Command } from 'commander';
import { clientOf } from '../settings.ts';
import { confirm, isJson, print, printList, UsageError } from '../terminal.ts';

type Event = Item<'listEvents'>;

// As many as one answer has: more events than this between two looks are named as missed.
const most = 1_000;

/** `fernpost webhooks listen`. */
function listenCommand(): Command {
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
    // An item that has left the response never returns.
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

/** `fernpost webhooks list|create|test|rotate|deliveries|redeliver|delete|listen`. */
export function webhookCommands(): Command {
  return new Command('webhooks')
    .description('endpoints that the service calls with events')
    .addCommand(
      new Command('list').description('every endpoint').action(async (_, command: Command) => {
        const endpoints = await clientOf(command).webhookEndpoints.list().all();
        printList(
          command,
          endpoints,
          ({ id, status, url, events }) => [id, status, url, events.join(',')],
          'No endpoints yet.',
        );
      }),
    )
    .addCommand(
      new Command('create')
        .description('create an endpoint; prints its signing secret, once')
        .argument('<url>')
        .option('--events <names>', 'names and prefixes such as email.bounce,contact.*', '*')
        .option('--description <text>', 'what it is for')
        .action(async (url: string, options: { events: string; description?: string }, command: Command) => {
          const { events, description } = options;
          const body = { url, events: events.split(','), ...(description === undefined ? {} : { description }) };
          const endpoint = await clientOf(command).webhookEndpoints.create(body);
          print(command, endpoint, `${endpoint.id}  ${endpoint.url}\nSigning secret, shown once: ${endpoint.secret}`);
        }),
    )
    .addCommand(
      new Command('test')
        .description('call an endpoint with an event made up for it')
        .argument('<id>')
        .option('--type <event>', 'such as email.bounce')
        .action(async (id: string, { type }: { type?: string }, command: Command) => {
          const test = await clientOf(command).webhookEndpoints.test(id, type === undefined ? {} : { type });
          print(command, test, JSON.stringify(test, null, 2));
        }),
    )
    .addCommand(
      new Command('rotate')
        .description('make a new signing secret; prints it, once')
        .argument('<id>')
        .option('--overlap <hours>', 'how long the old one signs too', Number, 24)
        .action(async (id: string, { overlap }: { overlap: number }, command: Command) => {
          const endpoint = await clientOf(command).webhookEndpoints.rotateSecret(id, { overlapHours: overlap });
          print(command, endpoint, `Signing secret, shown once: ${endpoint.secret}`);
        }),
    )
    .addCommand(deliveriesCommand())
    .addCommand(redeliverCommand())
    .addCommand(
      new Command('delete')
        .description('delete an endpoint; nothing more is delivered to it')
        .argument('<id>')
        .option('--yes', 'do not ask')
        .action(async (id: string, { yes }: { yes?: true }, command: Command) => {
          const { webhookEndpoints } = clientOf(command);
          const { url } = await webhookEndpoints.get(id);
          if (!yes) await confirm(`Delete the endpoint ${url}?`);
          await webhookEndpoints.delete(id);
          print(command, { id }, `Deleted ${url}.`);
        }),
    )
    .addCommand(listenCommand());
}

function deliveriesCommand(): Command {
  return new Command('deliveries')
    .description('the latest calls of an endpoint, and what it answered')
    .argument('<id>')
    .action(async (id: string, _, command: Command) => {
      const { data } = await clientOf(command).webhookEndpoints.listDeliveries(id);
      printList(
        command,
        data,
        ({ eventId, eventAt, type, status }) => [eventId, eventAt, status, type],
        'No deliveries yet.',
      );
    });
}

function redeliverCommand(): Command {
  return new Command('redeliver')
    .description('call an endpoint with an event again')
    .argument('<id>')
    .argument('<event>')
    .action(async (id: string, event: string, _, command: Command) => {
      const delivery = await clientOf(command).webhookEndpoints.redeliver(id, event);
      print(command, delivery ?? { id, event }, `${event} will be delivered again.`);
    });
}

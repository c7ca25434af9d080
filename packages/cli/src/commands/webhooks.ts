import { Command } from 'commander';
import { print, printList } from '../output.ts';
import { confirm } from '../prompt.ts';
import { clientOf } from '../settings.ts';
import { listenCommand } from './webhook-listen.ts';

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

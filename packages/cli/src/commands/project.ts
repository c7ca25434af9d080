import type { Fernpost, Item, Reply } from '@fernpost/sdk';
import { Command } from 'commander';
import { clientOf } from '../settings.ts';
import { confirm, print, printList, table, UsageError } from '../terminal.ts';
import { asMember } from './login.ts';

type Domain = Item<'listDomains'>;

/** `fernpost domains list|add|verify|remove`. */
export function domainCommands(): Command {
  return new Command('domains')
    .description('domains that mail is sent from; they need the secret key')
    .addCommand(
      new Command('list').description('every domain and whether it may send').action(async (_, command: Command) => {
        const domains = await clientOf(command).domains.list().all();
        printList(command, domains, ({ id, domain, status }) => [id, domain, status], 'No domains yet.');
      }),
    )
    .addCommand(
      new Command('add')
        .description('add a domain, and print the DNS records to publish')
        .argument('<domain>')
        .action(async (name: string, _, command: Command) => {
          const domain = await clientOf(command).domains.create(name);
          print(command, domain, `${domain.domain}: ${domain.status}\n\n${recordsOf(domain)}`);
        }),
    )
    .addCommand(
      new Command('verify')
        .description('look up the DNS records; fails until the domain may send')
        .argument('<domain>', 'name or id')
        .action(async (name: string, _, command: Command) => {
          const client = clientOf(command);
          const check = await client.domains.verify((await domainOf(client, name)).id);
          print(command, check, `${check.domain}: ${check.status}\n\n${recordsOf(check)}`);
          if (!check.verified) throw new Error(`${check.domain} is not verified yet.`);
        }),
    )
    .addCommand(
      new Command('remove')
        .description('remove a domain: nothing is sent from it any more')
        .argument('<domain>', 'name or id')
        .option('--yes', 'do not ask')
        .action(async (name: string, { yes }: { yes?: true }, command: Command) => {
          const client = clientOf(command);
          const { id, domain } = await domainOf(client, name);
          if (!yes) await confirm(`Remove ${domain}?`);
          await client.domains.delete(id);
          print(command, { id, domain }, `Removed ${domain}.`);
        }),
    );
}

async function domainOf(client: Fernpost, name: string): Promise<Domain> {
  const found = (await client.domains.list()).data.find(
    ({ id, domain }) => id === name || domain === name.toLowerCase(),
  );
  if (found === undefined)
    throw new UsageError(`The project has no domain ${name}: "fernpost domains list" names them.`);
  return found;
}

function recordsOf({ records }: Pick<Domain, 'records'>): string {
  return table(
    records.map(({ required, purpose, type, name, priority, value }) => [
      required ? 'required' : 'advised',
      purpose,
      type,
      name,
      priority,
      value,
    ]),
  );
}

type Key = Item<'listProjectApiKeys'>;
type NewKey = Key & { key: string };

interface CreateOptions {
  name: string;
  scopes: string;
  domains?: string;
  expires?: string;
}

/** `fernpost keys list|create|rotate|delete`. */
export function keyCommands(): Command {
  return new Command('keys')
    .description('keys with scopes. The secret key lists them; a member makes them, and is asked for a password')
    .addCommand(
      new Command('list').description('every key, without its secret').action(async (_, command: Command) => {
        const keys = await clientOf(command).keys.list().all();
        printList(command, keys, rowOf, 'No keys with scopes yet.');
      }),
    )
    .addCommand(
      byMember(new Command('create'))
        .description('create a key; prints it, once')
        .requiredOption('--name <text>', 'which app it is for')
        .requiredOption('--scopes <names>', 'such as emails:send,emails:read')
        .option('--domains <names>', 'domains that it may send from; all verified ones when absent')
        .option('--expires <instant>', 'when it stops working, such as 2027-12-24T18:00:00Z')
        .action(async ({ name, scopes, domains, expires }: CreateOptions, command: Command) => {
          const body = {
            name,
            scopes: scopes.split(','),
            ...(domains === undefined ? {} : { senderDomains: domains.split(',') }),
            ...(expires === undefined ? {} : { expiresAt: expires }),
          };
          const made = await asMember(command, ({ request, projectId }) => request('POST', pathOf(projectId), body));
          printKey(command, made as NewKey);
        }),
    )
    .addCommand(
      byMember(new Command('rotate'))
        .description('replace a key; prints the new one, once')
        .argument('<id>')
        .option('--overlap <hours>', 'how long the old one works too', Number, 24)
        .action(async (id: string, { overlap }: { overlap: number }, command: Command) => {
          const made = await asMember(command, ({ request, projectId }) =>
            request('POST', `${pathOf(projectId, id)}/rotate`, { overlapHours: overlap }),
          );
          printKey(command, made as NewKey);
        }),
    )
    .addCommand(
      byMember(new Command('delete'))
        .description('delete a key: every process refuses it at once')
        .argument('<id>')
        .option('--yes', 'do not ask')
        .action(async (id: string, { yes }: { yes?: true }, command: Command) => {
          if (!yes) await confirm(`Delete the key ${id}?`);
          await asMember(command, ({ request, projectId }) => request('DELETE', pathOf(projectId, id)));
          print(command, { id }, `Deleted ${id}.`);
        }),
    );
}

/** `fernpost holdout show|set|end`. */
export function holdoutCommands(): Command {
  return new Command('holdout')
    .description('the control group, which gets no marketing email; it needs the secret key')
    .addCommand(
      new Command('show').description('its share, and until when').action(async (_, command: Command) => {
        printHoldout(command, await clientOf(command).holdout.get());
      }),
    )
    .addCommand(
      new Command('set')
        .description('hold a share of contacts out; a larger one keeps the contacts of a smaller one')
        .argument('<percent>', 'such as 5', Number)
        .option('--until <instant>', 'when it ends by itself, such as 2027-03-31T22:00:00Z; never when absent')
        .action(async (percent: number, { until = null }: { until?: string | null }, command: Command) => {
          printHoldout(command, await clientOf(command).holdout.set({ percent, until }));
        }),
    )
    .addCommand(
      new Command('end')
        .description('end it: its contacts get marketing email again')
        .option('--yes', 'do not ask')
        .action(async ({ yes }: { yes?: true }, command: Command) => {
          if (!yes) await confirm('End the control group?');
          await clientOf(command).holdout.end();
          print(command, { ended: true }, 'Ended the control group.');
        }),
    );
}

function printHoldout(command: Command, holdout: Reply<'getHoldout'>): void {
  const { percent, until, active } = holdout;
  const end = until === null ? '' : active ? ` until ${until}` : `, ended ${until}`;
  print(
    command,
    holdout,
    percent === 0 ? 'No control group.' : `${percent}% of contacts get no marketing email${end}.`,
  );
}

function byMember(command: Command): Command {
  return command
    .option('--email <address>', 'the address you sign in with (or FERNPOST_EMAIL)')
    .option('--project <name>', 'name or ID of the project, where you have several');
}

function pathOf(projectId: string, id?: string): string {
  const keys = `/users/@me/projects/${encodeURIComponent(projectId)}/api-keys`;
  return id === undefined ? keys : `${keys}/${encodeURIComponent(id)}`;
}

function printKey(command: Command, made: NewKey): void {
  print(command, made, `${made.id}  ${made.name}\nKey, shown once: ${made.key}`);
}

function rowOf({ id, prefix, name, scopes, lastUsedAt }: Key) {
  return [id, `${prefix}…`, name, scopes.join(','), lastUsedAt === null ? 'never used' : `used ${lastUsedAt}`];
}

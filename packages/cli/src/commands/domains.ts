import type { Fernpost, Item } from '@fernpost/sdk';
import { Command } from 'commander';
import { UsageError } from '../errors.ts';
import { print, printList, table } from '../output.ts';
import { confirm } from '../prompt.ts';
import { clientOf } from '../settings.ts';

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

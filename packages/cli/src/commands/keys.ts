import type { Item } from '@fernpost/sdk';
import { Command } from 'commander';
import { asMember } from '../member.ts';
import { print, printList } from '../output.ts';
import { confirm } from '../prompt.ts';
import { clientOf } from '../settings.ts';

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

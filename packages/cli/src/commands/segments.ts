import type { Body } from '@fernpost/sdk';
import { Command, Option } from 'commander';
import { clientOf } from '../settings.ts';
import { confirm, plain, print, printList, UsageError } from '../terminal.ts';
import { contentOf } from './templates.ts';

/** `fernpost segments list|create|contacts|add|remove|delete`. */
export function segmentCommands(): Command {
  return new Command('segments')
    .description('groups of contacts: dynamic by a condition, or static')
    .addCommand(
      new Command('list').description('every segment and its size').action(async (_, command: Command) => {
        const segments = await clientOf(command).segments.list().all();
        printList(
          command,
          segments,
          ({ id, type, memberCount, name }) => [id, type, memberCount, name],
          'No segments yet.',
        );
      }),
    )
    .addCommand(
      new Command('create')
        .description('create a segment: static, or dynamic with --condition')
        .argument('<name>')
        .option('--description <text>', 'what it is for')
        .option('--condition <json>', 'the condition tree; "@file" reads a file, "-" standard input')
        .addOption(new Option('--track', 'record when contacts enter and leave it'))
        .action(create),
    )
    .addCommand(
      new Command('contacts')
        .description('the contacts of a segment')
        .argument('<id>')
        .action(async (id: string, _, command: Command) => {
          const contacts = await clientOf(command).segments.listContacts(id, { pageSize: 100 }).all();
          const row = ({ id: contact, email, subscribed }: (typeof contacts)[number]) => [
            contact,
            subscribed ? 'subscribed' : 'unsubscribed',
            email,
          ];
          printList(command, contacts, row, 'No contacts match.');
        }),
    )
    .addCommand(membersCommand('add', 'add contacts to a static segment'))
    .addCommand(membersCommand('remove', 'remove contacts from a static segment; they stay contacts'))
    .addCommand(
      new Command('delete')
        .description('delete a segment; its contacts stay')
        .argument('<id>')
        .option('--yes', 'do not ask')
        .action(async (id: string, { yes }: { yes?: true }, command: Command) => {
          const client = clientOf(command);
          const { name } = await client.segments.get(id);
          if (!yes) await confirm(`Delete the segment "${plain(name)}"?`);
          await client.segments.delete(id);
          print(command, { id }, `Deleted ${plain(name)}.`);
        }),
    );
}

async function create(
  name: string,
  { description, condition, track }: { description?: string; condition?: string; track?: true },
  command: Command,
): Promise<void> {
  const common = {
    name,
    ...(description === undefined ? {} : { description }),
    ...(track && { trackMembership: true }),
  };
  const body =
    condition === undefined
      ? { ...common, type: 'STATIC' }
      : { ...common, type: 'DYNAMIC', condition: conditionOf(await contentOf(condition)) };
  const segment = await clientOf(command).segments.create(body as Body<'createSegment'>);
  print(command, segment, `${segment.id}  ${plain(segment.name)}`);
}

function conditionOf(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new UsageError('--condition is not valid JSON: {"logic":"AND","groups":[{"filters":[…]}]}.');
  }
}

function membersCommand(name: 'add' | 'remove', description: string): Command {
  return new Command(name)
    .description(description)
    .argument('<id>')
    .argument('<addresses...>')
    .action(async (id: string, emails: string[], _: object, command: Command) => {
      const { segments } = clientOf(command);
      if (name === 'remove') {
        const done = await segments.removeMembers(id, { emails });
        return print(command, done, `${done.removed} removed.`);
      }
      const done = await segments.addMembers(id, { emails });
      const unknown = done.notFound.length === 0 ? '' : ` No contacts: ${done.notFound.join(', ')}.`;
      print(command, done, `${done.added} added.${unknown}`);
    });
}

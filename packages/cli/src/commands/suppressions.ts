import type { Body } from '@fernpost/sdk';
import { Command, Option } from 'commander';
import { print, printList } from '../output.ts';
import { clientOf } from '../settings.ts';

type Kind = Body<'createSuppressionRule'>['kind'];

const kinds: readonly Kind[] = ['ADDRESS', 'DOMAIN', 'PREFIX', 'SUFFIX', 'WILDCARD'];

/** `fernpost suppressions list|add|remove|emails`. */
export function suppressionCommands(): Command {
  return new Command('suppressions')
    .description('rules that keep mail from being sent; they need the secret key')
    .addCommand(
      new Command('list').description('every rule').action(async (_, command: Command) => {
        const rules = await clientOf(command).suppressions.list().all();
        printList(
          command,
          rules,
          ({ id, enabled, kind, pattern, name }) => [id, enabled ? 'on' : 'off', kind, pattern, name],
          'No rules yet.',
        );
      }),
    )
    .addCommand(
      new Command('add')
        .description('never send to an address, a domain, or what matches a pattern')
        .argument('<pattern>', 'such as ada@example.com or example.com')
        .addOption(new Option('--kind <kind>', 'how it matches; by the pattern when absent').choices(kinds))
        .option('--name <text>', 'what it is for; the pattern when absent')
        .action(async (pattern: string, { kind, name }: { kind?: Kind; name?: string }, command: Command) => {
          const body = { name: name ?? pattern, kind: kind ?? kindOf(pattern), pattern };
          const rule = await clientOf(command).suppressions.create(body);
          print(command, rule, `${rule.id}  ${rule.kind}  ${rule.pattern}`);
        }),
    )
    .addCommand(
      new Command('remove')
        .description('remove a rule: mail to what it matches is sent again')
        .argument('<id>')
        .action(async (id: string, _, command: Command) => {
          await clientOf(command).suppressions.delete(id);
          print(command, { id }, `Removed ${id}.`);
        }),
    )
    .addCommand(
      new Command('emails')
        .description('mail that rules kept from being sent, latest first')
        .action(async (_, command: Command) => {
          const { data } = await clientOf(command).suppressions.listEmails();
          printList(
            command,
            data,
            ({ createdAt, recipientAddress, suppression, renderedSubject }) => [
              createdAt,
              recipientAddress,
              suppression.pattern,
              renderedSubject,
            ],
            'No suppressed mail.',
          );
        }),
    );
}

function kindOf(pattern: string): Kind {
  if (pattern.includes('*')) return 'WILDCARD';
  return pattern.includes('@') ? 'ADDRESS' : 'DOMAIN';
}

import { writeFileSync } from 'node:fs';
import type { Body, Fernpost } from '@fernpost/sdk';
import { Command, InvalidArgumentError, Option } from 'commander';
import { clientOf } from '../settings.ts';
import { confirm, print, printList, table, UsageError } from '../terminal.ts';

/** The ID of a contact who is named by address or by ID. @throws UsageError for an address that no contact has */
async function contactIdOf(client: Fernpost, contact: string): Promise<string> {
  if (!contact.includes('@')) return contact;
  const wanted = contact.trim().toLowerCase();
  for await (const { id, email } of client.contacts.list({ search: wanted, limit: 100 }))
    if (email === wanted) return id;
  throw new UsageError(`No contact has the address ${contact}.`);
}

interface ExportOptions {
  out?: string;
  search?: string;
  subscribed?: boolean;
  condition?: Condition;
  columns?: string[];
}

type Condition = NonNullable<NonNullable<NonNullable<Body<'exportContacts'>>['filter']>['condition']>;

/** `fernpost contacts export|dossier|erase`. */
export function contactCommands(): Command {
  return new Command('contacts')
    .description('take contacts out of the service')
    .addCommand(
      new Command('export')
        .description('contacts as CSV, on standard output or into a file')
        .option('--out <file>', 'the file; only you can read it')
        .option('--search <text>', 'those whose address contains the text')
        .addOption(new Option('--subscribed', 'only subscribed contacts'))
        .addOption(new Option('--no-subscribed', 'only unsubscribed contacts'))
        .option('--condition <json>', 'those who match a condition tree, as segments have it', condition)
        .option('--columns <names>', 'such as email,subscribed,data.plan', (names) => names.split(','))
        .action(exportAll),
    )
    .addCommand(
      new Command('dossier')
        .description('everything known about one contact as JSON, for a request under Articles 15 and 20 of the GDPR')
        .argument('<contact>', 'address or id')
        .option('--out <file>', 'the file; only you can read it')
        .action(async (contact: string, { out }: { out?: string }, command: Command) => {
          const client = clientOf(command);
          const found = await client.contacts.dossier(await contactIdOf(client, contact));
          give(command, JSON.stringify(found, null, 2), out);
        }),
    )
    .addCommand(
      new Command('erase')
        .description('delete a contact and empty everything stored of it, for good; ends when that is certified')
        .argument('<contact>', 'address or id')
        .option('--reference <text>', 'why, for your own records; it is signed, so leave personal data out')
        .option('--keep-suppressed', 'never store the address or send to it again')
        .option('--out <file>', 'a file for the signed certificate')
        .option('--yes', 'do not ask')
        .action(erase),
    );
}

async function exportAll(options: ExportOptions, command: Command): Promise<void> {
  const { out, search, subscribed, condition, columns } = options;
  const filter = {
    ...(search === undefined ? {} : { search }),
    ...(subscribed === undefined ? {} : { subscribed }),
    ...(condition === undefined ? {} : { condition }),
  };
  const body = { filter, ...(columns === undefined ? {} : { columns }) };
  give(command, await clientOf(command).contacts.export(body), out);
}

/** A file that only the user can read: it is full of personal data. Without one, standard output. */
function give(command: Command, content: string, out: string | undefined): void {
  if (out === undefined) return void process.stdout.write(content.endsWith('\n') ? content : `${content}\n`);
  writeFileSync(out, content, { mode: 0o600 });
  print(command, { file: out, bytes: Buffer.byteLength(content) }, `Saved in ${out}.`);
}

interface EraseOptions {
  reference?: string;
  keepSuppressed?: true;
  out?: string;
  yes?: true;
}

async function erase(contact: string, options: EraseOptions, command: Command): Promise<void> {
  const client = clientOf(command);
  const id = await contactIdOf(client, contact);
  if (!options.yes) await confirm(`Erase ${contact} and everything stored of it, permanently?`);
  const { reference, keepSuppressed } = options;
  const body = {
    ...(reference === undefined ? {} : { reference }),
    ...(keepSuppressed === undefined ? {} : { keepSuppressed }),
  };
  const asked = await client.contacts.erase(id, body);
  // Other systems may take days; the command does not wait for them.
  const erasure = await client.erasures.wait(asked.id, { everyMs: 500 });
  const { certificate } = erasure;
  if (options.out !== undefined && certificate !== null)
    writeFileSync(options.out, `${JSON.stringify(certificate, null, 2)}\n`, { mode: 0o600 });
  const steps = table(
    erasure.steps.map(({ state, system, what, until }) => [state, system, what, until && `until ${until}`]),
  );
  const kept = certificate === null || options.out === undefined ? '' : ` The certificate is in ${options.out}.`;
  const waits =
    erasure.status === 'WAITING' ? ' What other systems keep expires by itself: check GET /erasures/{id} later.' : '';
  print(command, erasure, `${steps}\n\nErasure ${erasure.id}: ${erasure.status}.${waits}${kept}`);
}

function condition(json: string): Condition {
  try {
    return JSON.parse(json) as Condition;
  } catch {
    throw new InvalidArgumentError('Use JSON: {"logic":"AND","groups":[{"filters":[…]}]}.');
  }
}

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

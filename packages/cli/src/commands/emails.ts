import { setTimeout as sleep } from 'node:timers/promises';
import type { Body } from '@fernpost/sdk';
import { Command, InvalidArgumentError, Option } from 'commander';
import { clientOf } from '../settings.ts';
import { isJson, plain, print, table, UsageError } from '../terminal.ts';
import { contentOf } from './templates.ts';

/** `fernpost emails get|tail`. */
export function emailCommands(): Command {
  return new Command('emails')
    .description('look up what was sent')
    .addCommand(
      new Command('get')
        .description('one email and what happened to it')
        .argument('<id>')
        .action(async (id: string, _, command: Command) => {
          const email = await clientOf(command).emails.get(id);
          const head = table([
            ['Status', email.status],
            ['To', email.to],
            ['From', email.sender?.email ?? email.from],
            ['Subject', email.subject],
            ...(email.error === null ? [] : [['Reason', email.error]]),
          ]);
          const events = table(email.timeline.map(({ at, type }) => [at, type]));
          print(command, email, `${head}\n\n${events}`.trimEnd());
        }),
    )
    .addCommand(
      new Command('tail')
        .description('follow new emails; each again when its status changes')
        .option('--to <address>', 'only to this address')
        .option('--since <minutes>', 'begin so many minutes ago', minutes, 0)
        .option('--once', 'print what there is, and stop')
        .action(tail),
    );
}

async function tail(options: { to?: string; since: number; once?: true }, command: Command): Promise<void> {
  const client = clientOf(command);
  const from = new Date(Date.now() - options.since * 60_000).toISOString();
  const seen = new Map<string, string>();
  for (;;) {
    const found = [];
    const query = { from, ...(options.to === undefined ? {} : { to: options.to }) };
    for await (const email of client.emails.list(query)) found.push(email);
    for (const email of found.reverse()) {
      if (seen.get(email.id) === email.status) continue;
      seen.set(email.id, email.status);
      const line = [email.createdAt, email.status.padEnd(10), email.id, email.to, email.subject].map(plain).join('  ');
      console.log(isJson(command) ? JSON.stringify(email) : line);
    }
    if (options.once) return;
    await sleep(1_000);
  }
}

function minutes(value: string): number {
  const number = Number(value);
  if (!(number >= 0 && number <= 31 * 24 * 60)) throw new InvalidArgumentError('Use a number of minutes.');
  return number;
}

interface SendOptions {
  to: string[];
  from?: string;
  subject?: string;
  body?: string;
  text?: string;
  template?: string;
  data?: string;
  at?: string;
  idempotencyKey?: string;
}

/** `fernpost send`. */
export function sendCommand(): Command {
  return new Command('send')
    .description('send an email to each recipient')
    .requiredOption('--to <address...>', 'recipients')
    .option('--from <address>', 'sender, of a verified domain')
    .option('--subject <text>', 'subject, with {{ variables }}')
    .option('--body <html>', 'HTML; "@file" reads a file, "-" standard input')
    .option('--text <text>', 'text part; "@file" reads a file')
    .option('--template <id>', 'a template in place of subject and body')
    .option('--data <json>', 'values for variables')
    .option('--at <instant>', 'send later, such as 2026-12-24T18:00:00Z')
    .option('--idempotency-key <key>', 'repeating the command with it sends once')
    .action(async (options: SendOptions, command: Command) => {
      const { to, template, from, subject, at, idempotencyKey } = options;
      const body = {
        to,
        ...(template === undefined ? {} : { template }),
        ...(from === undefined ? {} : { from }),
        ...(subject === undefined ? {} : { subject }),
        ...(options.body === undefined ? {} : { body: await contentOf(options.body) }),
        ...(options.text === undefined ? {} : { text: await contentOf(options.text) }),
        ...(options.data === undefined ? {} : { data: dataOf(options.data) }),
        ...(at === undefined ? {} : { scheduledFor: at }),
      } as Body<'sendEmail'>;
      const sent = await clientOf(command).send(body, idempotencyKey === undefined ? {} : { idempotencyKey });
      print(command, sent, table(sent.map(({ contact, email }) => [contact.email, email])));
    });
}

function dataOf(json: string): Record<string, unknown> {
  try {
    return JSON.parse(json) as Record<string, unknown>;
  } catch {
    throw new UsageError('--data is not valid JSON.');
  }
}

interface ExplainOptions {
  campaign?: string;
  workflow?: string;
  email?: string;
}

const only = (flags: string, description: string, ...others: string[]) =>
  new Option(flags, description).conflicts(others);

/** `fernpost explain`. */
export function explainCommand(): Command {
  return new Command('explain')
    .description('why a contact received something, or didn’t')
    .argument('<contact>', 'address or id')
    .argument('[campaign]', 'id of the campaign that you ask about')
    .addOption(only('--campaign <id>', 'ask about a campaign', 'workflow', 'email'))
    .addOption(only('--workflow <id>', 'ask about a workflow', 'campaign', 'email'))
    .addOption(only('--email <id>', 'ask about an email', 'campaign', 'workflow'))
    .action(async (contact: string, campaign: string | undefined, options: ExplainOptions, command: Command) => {
      if (campaign !== undefined && Object.keys(options).length > 0)
        throw new UsageError('Choose one: a campaign, a workflow or an email.');
      const about = aboutOf(campaign === undefined ? options : { campaign });
      const found = await clientOf(command).call('explain', { body: { contact, about } });
      const marks = { pass: '+', stop: '!', info: ' ' };
      const decisions = table(found.decisions.map(({ outcome, at, sentence }) => [marks[outcome], at, sentence]));
      const next = found.next === null ? '' : `\n\nNext: ${found.next.what}`;
      print(command, found, `${found.verdict}: ${found.sentence}\n\n${decisions}${next}`);
    });
}

function aboutOf({ campaign, workflow, email }: ExplainOptions): Body<'explain'>['about'] {
  if (campaign !== undefined) return { campaignId: campaign };
  if (workflow !== undefined) return { workflowId: workflow };
  return email === undefined ? { topic: 'any' } : { emailId: email };
}

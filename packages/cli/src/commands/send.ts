import type { Body } from '@fernpost/sdk';
import { Command } from 'commander';
import { contentOf } from '../content.ts';
import { UsageError } from '../errors.ts';
import { print, table } from '../output.ts';
import { clientOf } from '../settings.ts';

interface Options {
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
    .action(async (options: Options, command: Command) => {
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

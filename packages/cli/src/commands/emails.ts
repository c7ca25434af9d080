import { setTimeout as sleep } from 'node:timers/promises';
import { Command, InvalidArgumentError } from 'commander';
import { isJson, plain, print, table } from '../output.ts';
import { clientOf } from '../settings.ts';

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

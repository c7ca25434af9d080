import { createInterface } from 'node:readline/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Posthorn } from '@posthorn/sdk';
import { Command } from 'commander';
import { UsageError } from '../errors.ts';
import { isJson, print } from '../output.ts';
import { clientOf } from '../settings.ts';

/** `posthorn campaigns launch|watch`. */
export function campaignCommands(): Command {
  return new Command('campaigns')
    .description('launch campaigns and watch them')
    .addCommand(
      new Command('launch')
        .description('send a campaign')
        .argument('<id>')
        .option('--at <instant>', 'send later, such as 2026-12-24T18:00:00Z')
        .option('--yes', 'do not ask')
        .option('--watch', 'follow it to the end')
        .action(launch),
    )
    .addCommand(
      new Command('watch')
        .description('follow a campaign to its end; fails when it was stopped')
        .argument('<id>')
        .action((id: string, _, command: Command) => watch(clientOf(command), id, command)),
    );
}

async function launch(id: string, options: { at?: string; yes?: true; watch?: true }, command: Command): Promise<void> {
  const client = clientOf(command);
  const campaign = await client.campaigns.get(id);
  if (!options.yes) await confirm(`Send "${campaign.name}" (${campaign.subject})?`);
  const sent = await client.campaigns.send(id, options.at === undefined ? {} : { scheduledFor: options.at });
  if (!options.watch || options.at !== undefined)
    return print(command, sent, `${campaign.name}: ${sent.status} ${sent.scheduledFor ?? ''}`.trimEnd());
  await watch(client, id, command);
}

async function watch(client: Posthorn, id: string, command: Command): Promise<void> {
  let last = '';
  for (;;) {
    const { name, status, pausedAt } = await client.campaigns.get(id);
    const stats = await client.campaigns.stats(id);
    const state = pausedAt === null ? status : 'PAUSED';
    const left = `${stats.skippedCount} skipped, ${stats.failedCount} failed, ${stats.pendingCount} pending`;
    const line = `${name}: ${state}, ${stats.sentCount} of ${stats.totalRecipients} sent, ${left}`;
    if (line !== last) console.log(isJson(command) ? JSON.stringify({ id, status: state, ...stats }) : line);
    last = line;
    if (status === 'SENT') return;
    if (status === 'CANCELLED' || status === 'DRAFT') throw new Error(`${name} is not being sent: it is ${status}.`);
    await sleep(1_000);
  }
}

async function confirm(question: string): Promise<void> {
  if (!process.stdin.isTTY) throw new UsageError('Nobody can be asked here: add --yes.');
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await lines.question(`${question} [y/N] `);
  lines.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw new UsageError('Nothing was sent.');
}

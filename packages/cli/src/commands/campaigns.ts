import { setTimeout as sleep } from 'node:timers/promises';
import type { Body, Fernpost, Reply } from '@fernpost/sdk';
import { Command, InvalidArgumentError, Option } from 'commander';
import { clientOf } from '../settings.ts';
import { confirm, isJson, plain, print, table, UsageError } from '../terminal.ts';
import { contentOf } from './templates.ts';

type Send = NonNullable<Body<'sendCampaign'>>;

interface LaunchOptions {
  at?: string;
  review?: true;
  fingerprint?: string;
  drift?: NonNullable<Send['drift']>;
  yes?: true;
  watch?: true;
}

/** `fernpost campaigns review|launch|withdraw|revise|correct|watch`. */
export function campaignCommands(): Command {
  return new Command('campaigns')
    .description('review campaigns, launch them and watch them')
    .addCommand(
      new Command('review')
        .description('a dry run: checks every contact, renders every message, and sends nothing')
        .argument('<id>')
        .option('--sample <number>', 'render only this many messages; every contact is still checked', wholeNumber)
        .addOption(new Option('--latest', 'the report of the latest dry run; starts none').conflicts('sample'))
        .action(async (id: string, { latest, sample }: { latest?: true; sample?: number }, command: Command) => {
          const client = clientOf(command);
          const review = latest ? await client.campaigns.getDryRun(id) : await makeReview(client, id, sample);
          print(command, review, describeReview(review));
        }),
    )
    .addCommand(
      new Command('launch')
        .description('send a campaign')
        .argument('<id>')
        .option('--at <instant>', 'send later, such as 2026-12-24T18:00:00Z')
        .option('--review', 'review it first, and send exactly what was reviewed')
        .addOption(new Option('--fingerprint <hash>', 'send only what this dry run reviewed').conflicts('review'))
        .option('--drift <none|fewer|share>', 'how far the audience may have changed since the review', drift)
        .option('--yes', 'do not ask')
        .option('--watch', 'follow it to the end')
        .action(launch),
    )
    .addCommand(
      new Command('withdraw')
        .description('withdraw a send that is waiting for approval; admins approve it in the dashboard')
        .argument('<id>')
        .action(async (id: string, _, command: Command) => {
          const done = await clientOf(command).campaigns.withdraw(id);
          print(command, done, done.message);
        }),
    )
    .addCommand(reviseCommand())
    .addCommand(correctCommand())
    .addCommand(
      new Command('watch')
        .description('follow a campaign to its end; fails when it was stopped')
        .argument('<id>')
        .action((id: string, _, command: Command) => watch(clientOf(command), id, command)),
    );
}

async function launch(id: string, options: LaunchOptions, command: Command): Promise<void> {
  const client = clientOf(command);
  const campaign = await client.campaigns.get(id);
  const name = plain(campaign.name);
  const review = options.review ? await makeReview(client, id) : null;
  if (review !== null && !isJson(command)) console.log(`${describeReview(review)}\n`);
  const fingerprint = review?.fingerprint ?? options.fingerprint;
  if (!options.yes) await confirm(`Send "${name}" (${plain(campaign.subject)})?`);
  const sent = await client.campaigns.send(id, {
    ...(options.at === undefined ? {} : { scheduledFor: options.at }),
    ...(fingerprint == null ? {} : { fingerprint }),
    ...(options.drift === undefined ? {} : { drift: options.drift }),
  });
  const { approval = null } = sent;
  if (approval !== null) {
    const until = `until ${approval.expiresAt}`;
    return print(command, sent, `${name}: waits for approval. Another admin approves it in the dashboard ${until}.`);
  }
  if (!options.watch || options.at !== undefined)
    return print(command, sent, `${name}: ${sent.status} ${sent.scheduledFor ?? ''}`.trimEnd());
  await watch(client, id, command);
}

async function watch(client: Fernpost, id: string, command: Command): Promise<void> {
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

function wholeNumber(value: string): number {
  if (!/^[1-9]\d{0,8}$/.test(value)) throw new InvalidArgumentError('Use a whole number above 0.');
  return Number(value);
}

function drift(value: string): NonNullable<Send['drift']> {
  if (value === 'none' || value === 'fewer') return value;
  const share = Number(value);
  if (!(share >= 0 && share <= 1)) throw new InvalidArgumentError('Use none, fewer, or a share such as 0.02.');
  return share;
}

/** The result of a dry run. */
type Review = Reply<'getCampaignDryRun'>['data'];

/** A dry run from its start to its end, of every message or a `sample` of that many. @throws when it fails */
async function makeReview(client: Fernpost, id: string, sample: number | 'all' = 'all'): Promise<Review> {
  const review = await client.campaigns.review(id, { sample }, { everyMs: 500 });
  if (review.state === 'FAILED')
    throw new Error(`The review ended: ${review.failedReason ?? 'no reason was recorded'}.`);
  return review;
}

/** The report as people read it: who gets it, who does not and why, and what looks wrong. */
function describeReview(review: Review): string {
  const { wouldSend, audience, sample, rendered, leftOut, missing, problems, samples, changed, fingerprint } = review;
  const rows = [
    ...leftOut.map(({ reason, count }) => ['-', count, reason]),
    ...missing.map(({ variable, contacts }) => ['!', contacts, `no value for {{${variable}}}`]),
    ...problems.map(({ kind, count, example }) => ['!', count, example ? `${kind}, such as ${example.email}` : kind]),
  ];
  const first = samples.slice(0, 3).map(({ email, subject }) => ['+', email, subject]);
  return [
    `Would send to ${wouldSend} of ${audience} contacts.`,
    ...(sample === 'all'
      ? []
      : [`Rendered a sample of ${rendered} messages; what looks wrong is counted among these.`]),
    ...(rows.length === 0 ? [] : ['', table(rows)]),
    ...(first.length === 0 ? [] : ['', table(first)]),
    ...(changed.length === 0 ? [] : ['', `Changed since: ${changed.map(plain).join(', ')}. Review it again.`]),
    ...(fingerprint === null ? [] : ['', `Fingerprint: ${fingerprint}`]),
  ].join('\n');
}

type Correction = Body<'createCampaignCorrection'>;

/** `fernpost campaigns revise`: other content for who has not got a paused campaign yet. */
function reviseCommand(): Command {
  return new Command('revise')
    .description('replace the content of a paused campaign for recipients who have not received it yet')
    .argument('<id>')
    .option('--subject <text>', 'subject, with {{ variables }}')
    .option('--body <html>', 'HTML; "@file" reads a file, "-" standard input')
    .option('--resume', 'continue sending afterwards')
    .option('--yes', 'do not ask')
    .action(revise);
}

async function revise(
  id: string,
  options: { subject?: string; body?: string; resume?: true; yes?: true },
  command: Command,
): Promise<void> {
  if (options.subject === undefined && options.body === undefined) throw new UsageError('Give --subject or --body.');
  const client = clientOf(command);
  const [{ name }, { pendingCount }] = await Promise.all([client.campaigns.get(id), client.campaigns.stats(id)]);
  const body = {
    ...(options.subject === undefined ? {} : { subject: options.subject }),
    ...(options.body === undefined ? {} : { body: await contentOf(options.body) }),
  };
  if (!options.yes)
    await confirm(`Revise "${plain(name)}" for the ${pendingCount} recipients who have not received it?`);
  const path = { id };
  const revised = await client.call('reviseCampaign', { path, body });
  if (!options.resume) return print(command, revised.data, revised.message);
  const { data } = await client.call('resumeCampaign', { path });
  print(command, data, `${plain(name)}: sending continues with version ${data.contentVersion}`);
}

/** `fernpost campaigns correct`: a draft for exactly those who got certain versions. */
function correctCommand(): Command {
  return new Command('correct')
    .description('create a draft for exactly the recipients of certain versions of a campaign')
    .argument('<id>')
    .requiredOption('--subject <text>', 'subject, with {{ variables }}')
    .requiredOption('--body <html>', 'HTML; "@file" reads a file, "-" standard input')
    .option('--versions <number...>', 'versions of the content', ['1'])
    .addOption(
      new Option('--who <who>', 'which of their recipients').choices(['got', 'opened', 'clicked']).default('got'),
    )
    .action(
      async (id: string, options: Record<'subject' | 'body' | 'who', string> & { versions: string[] }, command) => {
        const { data } = await clientOf(command).call('createCampaignCorrection', {
          path: { id },
          body: {
            versions: options.versions.map(Number),
            who: options.who as Correction['who'],
            subject: options.subject,
            body: await contentOf(options.body),
          },
        });
        const { name, totalRecipients, id: draft } = data;
        print(
          command,
          data,
          `${plain(name)}: a draft for ${totalRecipients} ${totalRecipients === 1 ? 'contact' : 'contacts'}. Send it with: campaigns launch ${draft}`,
        );
      },
    );
}

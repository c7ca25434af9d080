import { readFileSync } from 'node:fs';
import pLimit from 'p-limit';
import { pino } from 'pino';
import { claimSize, loadContent, prepareBy } from '../src/campaigns/delivery/content.ts';
import { chooseCanary } from '../src/launches/canary/choose.ts';
import { reviewShare } from '../src/launches/review/dry-run.ts';
import { factsOf } from '../src/launches/review/findings.ts';
import { insertDryRun, readContacts } from '../src/launches/review/queries.ts';
import { readConfig } from '../src/lib/config/config.ts';
import { leastId, newId } from '../src/lib/ids.ts';
import { createComposer } from '../src/mail/engine/compose.ts';
import { type Database, sql } from '../src/store/sql.ts';
import { audienceSize, fillAudience } from './support/audience.ts';
import { campaignHtml, campaignSubject } from './support/campaign-content.ts';
import { benchWorld } from './support/world.ts';

const contacts = Number(process.env.BENCH_CONTACTS ?? 100_000);
const rounds = Number(process.env.BENCH_ROUNDS ?? 3);
const chunk = 500;
const sampleSize = 1000;
const canarySize = 1000;
const smallAudience = Math.min(10_000, contacts);

const newsletter = readFileSync(new URL('../test/data/templates/newsletter.html', import.meta.url), 'utf8');
/** A small message, and a typical one. */
const messages = {
  'a short letter': campaignHtml.replace('{{city}}', '{{country}}'),
  'a newsletter': newsletter.replace('Hi there', 'Hi {{firstName ?? there}}'),
};

const prepare = prepareBy(createComposer(readConfig({}), { warn: () => undefined }));

/** The duration of a run, and the peak memory of the process. */
interface Run {
  seconds: number;
  peakRssMb: number;
}

/**
 * A dry run of an audience as a worker makes it, as a ratio to a floor that reads the same contacts and renders the same messages,
 * and neither decides nor keeps anything. Then the first slice of a canary of the same audience. BENCH_CONTACTS says
 * how many contacts there are.
 */
export async function benchDryRun(): Promise<void> {
  await using world = await benchWorld();
  const { db, project } = world;
  const { projectId } = project;
  console.log(`\nDry run: ${contacts.toLocaleString('en-US')} contacts, ${rounds} rounds`);
  await fillAudience(db, projectId, { ...audienceSize(), contacts, events: 0 });
  await db.rows('update contacts set subscribed = true');
  await db.rows('vacuum (analyze) contacts');
  await db.count(sql`
    insert into domains (id, project_id, domain, verified) values (${newId()}, ${projectId}, 'bench.example', true)`);
  let campaign = '';
  for (const [name, html] of Object.entries(messages)) {
    console.log(`${name}, ${html.length} bytes of HTML`);
    campaign = await aCampaign(db, projectId, html);
    await benchMessages(db, projectId, campaign);
  }
  const sample = await dryRun(db, projectId, campaign, contacts, sampleSize);
  console.log(`  with a sample of ${sampleSize}: ${sample.seconds.toFixed(1)} s`);
  await benchCanary(db, projectId, campaign);
}

async function benchMessages(db: Database, projectId: string, campaign: string): Promise<void> {
  // The first loads code and plans.
  await dryRun(db, projectId, campaign, smallAudience);
  const small = await dryRun(db, projectId, campaign, smallAudience);
  const ratios: number[] = [];
  const alone: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const floor = await rendering(db, projectId, campaign);
    const ours = await dryRun(db, projectId, campaign, contacts);
    ratios.push(ours.seconds / floor.seconds);
    alone.push(ours.seconds / floor.renderSeconds);
    console.log(
      `  floor ${floor.seconds.toFixed(1)} s, of which rendering ${floor.renderSeconds.toFixed(1)} s   dry run ${ours.seconds.toFixed(1)} s`,
    );
    if (round === rounds - 1)
      console.log(`  memory: ${small.peakRssMb} MB at ${smallAudience} contacts, ${ours.peakRssMb} MB at ${contacts}`);
  }
  console.log(`  ratio ${median(ratios)} to the floor, ${median(alone)} to rendering alone`);
}

async function aCampaign(db: Database, projectId: string, html: string): Promise<string> {
  const id = newId();
  await db.count(sql`
    insert into campaigns (id, project_id, name, subject, body, "from", audience_type)
    values (${id}, ${projectId}, 'Walks', ${campaignSubject}, ${html},
      'birds@bench.example', 'ALL')`);
  return id;
}

// Of a small one the audience is what is left after most contacts: pages come in the order of their IDs.
async function dryRun(
  db: Database,
  projectId: string,
  campaignId: string,
  audience: number,
  sample: number | null = null,
): Promise<Run> {
  const run = { id: newId(), projectId, campaignId, expected: audience, sample };
  const facts = (await factsOf(db, projectId, campaignId)) ?? {};
  await db.transaction((tx) => insertDryRun(tx, { ...run, facts }));
  if (audience < contacts)
    await db.count(sql`
      update dry_runs set through = (select id from contacts where project_id = ${projectId} order by id desc
        offset ${audience} limit 1) where id = ${run.id}`);
  const heavyReads = { of: () => db };
  const deps = { db, heavyReads, log: pino({ level: 'silent' }), prepare, rendering: pLimit(1), chunk, rest: 0 };
  const options = { stop: new AbortController().signal, longestMs: 30_000, onPage: () => undefined };
  return timed(async () => {
    for (;;) {
      const share = await reviewShare(deps, run.id, options);
      if (share.state !== 'over') continue;
      const done = await db.row<{ state: string; wouldSend: number; reason: string | null }>(sql`
        select state, would_send as "wouldSend", failed_reason as reason from dry_runs where id = ${run.id}`);
      if (done?.state !== 'DONE' || done.wouldSend !== audience)
        throw new Error(`The dry run is ${done?.state} with ${done?.wouldSend} messages: ${done?.reason}`);
      return;
    }
  });
}

async function rendering(db: Database, projectId: string, campaign: string): Promise<Run & { renderSeconds: number }> {
  const content = await loadContent(db, campaign, 0);
  if (content === null) throw new Error('The campaign is gone');
  const render = prepare(content);
  const size = claimSize(content, chunk);
  let after = leastId;
  let bytes = 0;
  let renderSeconds = 0;
  const run = await timed(async () => {
    for (;;) {
      const rows = await db.rows<{ id: string }>(sql`
        select id from contacts where project_id = ${projectId} and id > ${after}::uuid order by id limit ${size}`);
      const people = await readContacts(
        db,
        projectId,
        rows.map(({ id }) => id),
      );
      const began = performance.now();
      for (const one of people) bytes += String(render(one).html).length;
      renderSeconds += (performance.now() - began) / 1000;
      if (rows.length < size) break;
      after = rows.at(-1)?.id ?? after;
    }
    if (bytes < contacts) throw new Error('Nothing was rendered');
  });
  return { ...run, renderSeconds };
}

async function timed(work: () => Promise<void>): Promise<Run> {
  let peak = process.memoryUsage.rss();
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 50);
  const began = performance.now();
  try {
    await work();
    return { seconds: (performance.now() - began) / 1000, peakRssMb: Math.round(peak / 2 ** 20) };
  } finally {
    clearInterval(timer);
  }
}

async function benchCanary(db: Database, projectId: string, campaign: string): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.rows('set local session_replication_role = replica');
    await tx.count(sql`update campaigns set status = 'SENDING', send_seq = 1 where id = ${campaign}`);
    await tx.count(sql`
      insert into campaign_sends (campaign_id, send_seq, project_id, expanded, expanded_count, canary)
      values (${campaign}, 1, ${projectId}, true, ${contacts}, true)`);
    await tx.count(sql`
      insert into emails (id, project_id, contact_id, to_address, "from", source_type, message_class, campaign_id, send_seq, status)
      select uuidv7(), project_id, id, email, 'birds@bench.example', 'CAMPAIGN', 'MARKETING', ${campaign}::uuid, 1, 'PENDING'
      from contacts where project_id = ${projectId} order by id`);
    await tx.count(sql`
      insert into campaign_canaries (campaign_id, send_seq, recipients, hold_seconds, stop_if, min_delivered)
      values (${campaign}, 1, ${canarySize}, 3600, '{}', 0)`);
  });
  await db.rows('vacuum (analyze) emails');
  const plan = await db.rows<{ 'QUERY PLAN': string }>(sql`
    explain (analyze, costs off, timing off, summary off, buffers off)
    select contact_id from emails
    where campaign_id = ${campaign}::uuid and send_seq = 1 and status = 'PENDING'
    order by sha256(uuid_send(campaign_id) || uuid_send(contact_id)), contact_id limit ${canarySize}::int`);
  console.log(plan.map((line) => `  ${line['QUERY PLAN']}`).join('\n'));
  const { seconds } = await timed(() => chooseCanary(db, campaign, 1));
  const chosen = await db.row<{ count: number }>(sql`
    select count(*)::int as count from campaign_canary_contacts where campaign_id = ${campaign}`);
  if (chosen?.count !== canarySize) throw new Error(`The canary has ${chosen?.count} members`);
  console.log(`  a canary of ${canarySize} chosen among ${contacts.toLocaleString('en-US')}: ${seconds.toFixed(2)} s`);
}

function median(numbers: number[]): string {
  return (numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0).toFixed(1);
}

if (import.meta.main) await benchDryRun();

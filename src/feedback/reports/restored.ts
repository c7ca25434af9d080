import { noteSent } from '../../accounts/system-mail/queries.ts';
import type { ListedMessage, Mailer } from '../../domains/providers/mailer.ts';
import { restoreHold } from '../../mail/engine/breaker.ts';
import type { EngineLog } from '../../mail/engine/port.ts';
import { settleMail, type Verdict } from '../../mail/ledger/settle.ts';
import { systemProjectId } from '../../mail/providers/journal.ts';
import { isoText, removeSome } from '../../store/columns.ts';
import { type Database, raw, sql } from '../../store/sql.ts';

/** What the comparison with the provider is made with. Times are milliseconds. */
export interface RestoreDeps {
  db: Database;
  mailer: Mailer;
  log: EngineLog;
  /** Setting SEND_CHUNK: recipients of a campaign in one call. */
  chunk: number;
  /** How long mail is held before the provider is asked: its search is behind by some time, and workflows make mail again that they had made. */
  waitMs: number;
  /** How long one step may take; the next one goes on. */
  longestMs?: number;
}

/** Where a comparison stands; mail by its outcome. */
export interface RestoreReport {
  restoredTo: string;
  phase: Phase;
  heldAt: string;
  finishedAt: string | null;
  /** False where the provider cannot be searched, so that nothing was found. */
  searched: boolean;
  outcomes: Record<string, number>;
  /** Mail that may have been sent, and mail that was sent and has no row any more: 1,000 of each at most. */
  unknown: NamedMail[];
  lost: NamedMail[];
}

interface NamedMail {
  emailId: string;
  projectId: string;
  campaignId: string | null;
  source: string;
  messageId: string | null;
  acceptedAt: string | null;
}

type Phase = 'SEARCHING' | 'MATCHING' | 'SETTLING' | 'FINISHED';

// The clocks of the provider, of Postgres and of whoever named the instant may differ.
const marginMs = 5 * 60_000;
const settledAtOnce = 500;
const longestMs = 5 * 60_000;

/**
 * Holds all mail after the database was set back to an ISO instant, until `compareRestored` has found out what the provider accepted since. Once for each
 * instant: what was compared is not held again. Returns whether it is new. Executions are ahead of their rows then, so that all unfinished work is compared
 * with them at once, as with a Temporal store that was lost: workflows have to make mail again before the provider is asked.
 */
export async function holdRestored(db: Database, restoredTo: string, mailer: Mailer): Promise<boolean> {
  const reason = `the database was set back to ${restoredTo}: the provider is asked what it has accepted since`;
  const held = await db.count(sql`
    with made as (
      insert into restores (restored_to, provider, searched, campaigns)
      values (${restoredTo}, ${mailer.name}, ${mailer.acceptedSince !== undefined}, array(
        select id from campaigns where status = 'SENDING' or status = 'SCHEDULED' and scheduled_for <= clock_timestamp()))
      on conflict do nothing returning provider, held_at),
    ahead as (update temporal_stores set changed_at = held_at from made)
    insert into provider_holds (provider, failures, reason, held_since, held_until)
    select provider, 0, ${reason}, held_at, ${restoreHold} from made
    on conflict (provider) do update set failures = 0, reason = excluded.reason, held_since = excluded.held_since,
      held_until = excluded.held_until`);
  return held > 0;
}

/**
 * Goes on with the comparison of a database that was set back: asks the provider page by page for what it accepted since, writes it down, keeps back what may
 * have been sent although the search does not show it, and lets all other mail go. Each step is kept, so that a process that ends costs nothing. Later it
 * notes mail that a report of the provider proves. Returns how many mails it settled.
 */
export async function compareRestored(deps: RestoreDeps): Promise<number> {
  const { db, log, chunk, waitMs } = deps;
  const until = performance.now() + (deps.longestMs ?? longestMs);
  let restore = await openRestore(db);
  if (restore === null || restore.heldMs < waitMs) return 0;
  const { restoredTo } = restore;
  while (restore.phase === 'SEARCHING') {
    if (performance.now() > until) return 0;
    restore = await search(deps, restore);
  }
  if (restore.phase === 'MATCHING') {
    const matched = await db.row<{ unknown: number | null }>(sql`
      select match_restored_mail(restore => ${restoredTo}, reach => ${chunk}) as unknown`);
    if (matched?.unknown === null) log.warn({ restoredTo }, 'mail is held until campaigns have frozen their audience');
    if (matched?.unknown == null) return 0;
  }
  let settled = 0;
  for (;;) {
    const mails = await openMail(db, 'FOUND');
    if (mails.length === 0) break;
    await settle(db, mails, restore.provider, true);
    settled += mails.length;
    if (performance.now() > until) return settled;
  }
  await release(db, true);
  if (restore.phase !== 'FINISHED') await finish(deps, restoredTo);
  return settled;
}

interface OpenRestore {
  restoredTo: string;
  provider: string;
  phase: Phase;
  searched: boolean;
  position: string | null;
  heldMs: number;
}

// What is unknown may still be proven by a report, so that a finished one stays open while it has any.
function openRestore(db: Database): Promise<OpenRestore | null> {
  return db.row(sql`
    select ${raw(isoText('restored_to'))} as "restoredTo", provider, phase, searched, position,
      (1000 * extract(epoch from clock_timestamp() - held_at))::float8 as "heldMs"
    from restores r
    where phase <> 'FINISHED' or exists (select from restored_mail m where m.restored_to = r.restored_to and m.outcome = 'UNKNOWN')
    order by phase = 'FINISHED', restored_to limit 1`);
}

// A page and the position after it are kept together. Of an address its contact is kept. The campaign of a lost row is the one of its project that
// has this subject, or whose subject differs for each contact; where there are more, it is not known.
async function search({ db, mailer }: RestoreDeps, restore: OpenRestore): Promise<OpenRestore> {
  const { restoredTo, position } = restore;
  const since = new Date(Date.parse(restoredTo) - marginMs).toISOString();
  const page = (await mailer.acceptedSince?.(since, position)) ?? { messages: [], next: null };
  const phase = page.next === null ? 'MATCHING' : 'SEARCHING';
  const ofService = ({ projectId }: ListedMessage) => projectId === systemProjectId;
  for (const { emailId, messageId, at } of page.messages.filter(ofService)) await noteSent(db, emailId, messageId, at);
  const listed = JSON.stringify(page.messages.filter((message) => !ofService(message)));
  await db.count(sql`
    with given as (
      select * from jsonb_to_recordset(${listed}::jsonb) as g (
        "messageId" text, at timestamptz, "emailId" uuid, "projectId" uuid, recipient text, subject text, tag text)),
    kept as (
      insert into restored_mail (restored_to, email_id, project_id, contact_id, campaign_id, source, message_id, accepted_at, outcome)
      select distinct on (g."emailId") ${restoredTo}::timestamptz, g."emailId", g."projectId", coalesce(e.contact_id, c.id),
        coalesce(e.campaign_id, named.id), coalesce(e.source_type, g.tag), g."messageId", g.at,
        case when e.id is null then 'LOST' else 'FOUND' end
      from given g left join emails e on e.id = g."emailId" and e.project_id = g."projectId"
        left join contacts c on e.id is null and c.project_id = g."projectId" and c.email = lower(g.recipient)
        left join lateral (
          select (array_agg(k.id))[1] as id from campaigns k
          where e.id is null and g.tag = 'CAMPAIGN' and k.project_id = g."projectId" and k.status in ('DRAFT', 'SCHEDULED', 'SENDING')
            and (k.subject = g.subject or k.subject ~ '[{][{%]')
          having count(*) = 1) named on true
      where e.message_id is null
      order by g."emailId", g.at
      on conflict do nothing)
    update restores set position = ${page.next}, phase = ${phase} where restored_to = ${restoredTo} and phase = 'SEARCHING'`);
  return { ...restore, phase, position: page.next };
}

interface OpenMail {
  emailId: string;
  messageId: string | null;
  at: string;
  campaignId: string | null;
  sendSeq: number | null;
}

/** Mail that the provider has or, by `outcome`, may have; a report proves it as well as the search. */
function openMail(db: Database, outcome: 'FOUND' | 'UNKNOWN'): Promise<OpenMail[]> {
  return db.rows(sql`
    select m.email_id as "emailId", coalesce(m.message_id, e.message_id) as "messageId", e.campaign_id as "campaignId", e.send_seq as "sendSeq",
      ${raw(isoText('coalesce(m.accepted_at, e.delivered_at, e.opened_at, e.clicked_at, e.bounced_at, e.complained_at, e.updated_at)'))} as at
    from restored_mail m join emails e on e.id = m.email_id
    where m.outcome in ('FOUND', 'UNKNOWN') and (${outcome === 'UNKNOWN'} = (m.outcome = 'UNKNOWN' and e.message_id is null))
    order by m.email_id limit ${settledAtOnce}`);
}

/** Settles mail as sent, or as given up because nobody can tell whether it was. */
async function settle(db: Database, mails: readonly OpenMail[], provider: string, sent: boolean): Promise<void> {
  for (const [, group] of Map.groupBy(mails, ({ campaignId, sendSeq }) => `${campaignId} ${sendSeq}`)) {
    const { campaignId = null, sendSeq = null } = group[0] ?? {};
    const verdicts = group.map(
      ({ emailId, messageId, at }): Verdict =>
        sent
          ? { emailId, outcome: 'SENT', messageId: messageId ?? '', at, subject: null }
          : { emailId, outcome: 'FAILED', reason: { code: 'submission_unknown' }, subject: null },
    );
    const send = campaignId === null || sendSeq === null ? null : { campaignId, sendSeq, holder: '' };
    await settleMail(
      db,
      { id: 'restored', provider, ...(send && { send: { ...send, end: { settled: true } } }) },
      verdicts,
    );
  }
  const [ids, outcome] = [mails.map(({ emailId }) => emailId), sent ? 'SETTLED' : 'GIVEN_UP'];
  await db.count(sql`
    update restored_mail set outcome = ${outcome} where email_id = any(${ids}::uuid[]) and outcome in ('FOUND', 'UNKNOWN')`);
}

async function finish({ db, log }: RestoreDeps, restoredTo: string): Promise<void> {
  await db.count(sql`
    with finished as (
      update restores set phase = 'FINISHED', finished_at = clock_timestamp() where restored_to = ${restoredTo} and phase = 'SETTLING'
      returning restored_to, provider)
    update provider_holds h set failures = 0, reason = null, held_since = null, held_until = null from finished f
    where h.provider = f.provider and h.held_until >= ${restoreHold} and not exists (
      select from restores r where r.provider = f.provider and r.phase <> 'FINISHED' and r.restored_to <> f.restored_to)`);
  const [report] = await restoreReports(db);
  if (report === undefined) return;
  const { outcomes, searched, unknown, lost } = report;
  const some = (mails: readonly NamedMail[]) =>
    mails.slice(0, 100).map(({ emailId, messageId }) => messageId ?? emailId);
  log.warn(
    { restoredTo, searched, outcomes, unknown: some(unknown), lost: some(lost) },
    'the database that was set back was compared with the mail provider, and mail goes on',
  );
}

/**
 * Gives up the search of a provider that does not answer, as where its key is no longer valid: what it has said counts, and of all other mail nobody can
 * tell, as with a provider that cannot be searched. Returns whether a search was under way.
 */
export async function skipSearch(db: Database): Promise<boolean> {
  return (await db.count(sql`update restores set searched = false, phase = 'MATCHING' where phase = 'SEARCHING'`)) > 0;
}

/** Decides about mail that may have been sent: `send` sends it, `fail` gives it up, until a report proves it. Returns how many mails that were. */
export async function decideRestored(db: Database, decision: 'send' | 'fail'): Promise<number> {
  if (decision === 'send') return release(db, false);
  const provider = (await openRestore(db))?.provider ?? '';
  let failed = 0;
  for (;;) {
    const mails = await openMail(db, 'UNKNOWN');
    if (mails.length === 0) break;
    await settle(db, mails, provider, false);
    failed += mails.length;
  }
  await release(db, true);
  return failed;
}

async function release(db: Database, onlyEnded: boolean): Promise<number> {
  const row = await db.row<{ mails: number }>(sql`select release_restored_mail(only_ended => ${onlyEnded}) as mails`);
  return row?.mails ?? 0;
}

/** The instants to which the database was set back, the latest comparison first. */
export function restoreReports(db: Database): Promise<RestoreReport[]> {
  const named = (outcome: string) =>
    raw(`(select coalesce(jsonb_agg(to_jsonb(n)), '[]') from (
      select email_id as "emailId", project_id as "projectId", campaign_id as "campaignId", source, message_id as "messageId",
        ${isoText('accepted_at')} as "acceptedAt"
      from restored_mail m where m.restored_to = r.restored_to and m.outcome = '${outcome}' order by email_id limit 1000) n)`);
  return db.rows(sql`
    select ${raw(isoText('restored_to'))} as "restoredTo", phase, ${raw(isoText('held_at'))} as "heldAt", ${raw(isoText('finished_at'))} as "finishedAt",
      searched, (
        select coalesce(jsonb_object_agg(outcome, mails), '{}') from (
          select outcome, count(*) as mails from restored_mail m where m.restored_to = r.restored_to group by outcome) counted) as outcomes,
      ${named('UNKNOWN')} as unknown, ${named('LOST')} as lost
    from restores r order by held_at desc`);
}

/** Removes what became of mail after a restore, 400 days after all of it was known. The row of the restore stays: without it mail is held again. */
export function removeOldRestored(db: Database, limit: number): Promise<number> {
  const old = raw(`outcome not in ('FOUND', 'UNKNOWN') and restored_to in (
    select restored_to from restores where phase = 'FINISHED' and finished_at < now() - interval '400 days')`);
  return removeSome(db, 'restored_mail', old, limit);
}

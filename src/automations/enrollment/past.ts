import { conditionQuery, eventQuery } from '../../contacts/conditions.ts';
import { eventData } from '../../contacts/events/queries.ts';
import { type ContactFilter, countContacts, matching } from '../../contacts/list-queries.ts';
import type { Step } from '../../imports/bulk.ts';
import { matchingContacts } from '../../imports/bulk-queries.ts';
import { advanceJob, type JobErrorRow, type JobRow } from '../../imports/queries.ts';
import type { QueuedJob } from '../../imports/schema.ts';
import { queueJob } from '../../imports/service.ts';
import type { JsonObjectValue } from '../../lib/contact-data.ts';
import { badRequest, notFound } from '../../lib/errors.ts';
import { leastId, newId } from '../../lib/ids.ts';
import { Project } from '../../projects/queries.ts';
import { checkedDefinition, conditionObject, Segment, storedDefinition } from '../../segments/definition.ts';
import { isoText } from '../../store/columns.ts';
import { enqueueAll, type OutboxTicket } from '../../store/outbox/queries.ts';
import { type Database, type Query, raw, sql } from '../../store/sql.ts';
import { Automation } from '../entity.ts';
import { findAutomation, found } from '../queries.ts';
import { keepSenders } from '../rows.ts';
import type { EnrollContacts, EnrollPreview } from '../runs/schema.ts';
import { contextOf } from '../runtime/condition.ts';
import { entryRefusal, type StartOutcome, type StartRequest, startRuns } from './starting.ts';

/** Whom an enrollment of the past is for: contacts that match a condition now, or that have had an event since. */
type Selector = { mode: 'query'; filter: { condition: JsonObjectValue } } | { mode: 'event'; event: EventOfPast };

interface EventOfPast {
  name: string;
  since: string;
  where: unknown;
}

/** The request of a job that enrolls contacts, as its row keeps it. */
interface EnrollSpec {
  operation: 'enroll';
  workflowId: string;
  mostPerMinute: number | null;
  selector: Selector;
}

/**
 * Queues a job that enrolls contacts of the past, each at most once; a dry run counts who would enter and writes nothing.
 * @throws 404 for the workflow and the segment, 400 for a condition and while disabled, 403 for a key whose senders do not allow it
 */
export async function enrollPast(
  db: Database,
  projectId: string,
  automationId: string,
  { mostPerMinute, dryRun, ...asked }: EnrollContacts,
  startsPerHour: number,
): Promise<{ body: QueuedJob | EnrollPreview; tickets: OutboxTicket[] }> {
  return db.transaction(async (tx) => {
    const automation = found(await findAutomation(tx, projectId, automationId), automationId);
    const selector = await selectorOf(tx, projectId, asked);
    if (!automation.enabled) throw badRequest('The workflow is disabled: enable it before you enroll contacts');
    await keepSenders(tx, automationId);
    if (dryRun) return { body: await previewOf(tx, automation, selector, startsPerHour), tickets: [] };
    const spec = { operation: 'enroll', workflowId: automationId, mostPerMinute: mostPerMinute ?? null, selector };
    const job = { id: `bulk-enroll-${newId()}`, projectId, kind: 'bulk', spec: { projectId, ...spec } } as const;
    const ticket = await queueJob(
      tx,
      { ...job, spec: job.spec as unknown as JsonObjectValue },
      'Enrolls contacts',
      spec,
    );
    return { body: { message: 'Enrollment queued', jobId: job.id }, tickets: [ticket] };
  });
}

async function selectorOf(
  tx: Database,
  projectId: string,
  { segmentId, condition, event }: Pick<EnrollContacts, 'segmentId' | 'condition' | 'event'>,
): Promise<Selector> {
  if (event) return { mode: 'event', event: { ...event, where: event.where ?? null } };
  if (segmentId && (await tx.em.count(Segment, { projectId, id: segmentId })) === 0)
    throw notFound('segment', segmentId);
  const tree = conditionObject(selectedBy({ segmentId, condition }), '"condition" must be an object');
  await checkedDefinition(tx, projectId, tree);
  return { mode: 'query', filter: { condition: tree as JsonObjectValue } };
}

/** The condition of whom a request enrolls; null for contacts that an event happened to. */
export function selectedBy({ segmentId, condition }: Pick<EnrollContacts, 'segmentId' | 'condition'>): object | null {
  if (!segmentId) return condition ?? null;
  return { logic: 'AND', groups: [{ filters: [{ field: `segment.${segmentId}`, operator: 'memberOfSegment' }] }] };
}

const whyNot = {
  reentry: 'Has been in the workflow, which does not allow re-entry',
  active: 'Is in the workflow already',
  refused: 'Entered the workflow as often within an hour as is allowed',
  repeated: 'Has entered by this job',
  gone: 'Was deleted',
} as const satisfies Record<Exclude<StartOutcome, 'started'>, string>;

interface Counts {
  total: number;
  reentry: number;
  active: number;
  refused: number;
}

/** Counts who would enter and who would not, by the rules of `startRuns`. */
async function previewOf(
  tx: Database,
  { id, projectId, allowReentry }: { id: string; projectId: string; allowReentry: boolean },
  selector: Selector,
  startsPerHour: number,
): Promise<EnrollPreview> {
  const counts = await tx.row<Counts>(sql`
    select count(*)::int as total, count(*) filter (where why = 'reentry')::int as reentry,
      count(*) filter (where why = 'active')::int as active, count(*) filter (where why = 'refused')::int as refused
    from (
      select ${entryRefusal} as why
      from (
        select ${id}::uuid as automation_id, c.id as contact_id, n.last_entry, ${allowReentry}::boolean as allow_reentry,
          ${startsPerHour}::integer as per_hour
        from contacts c left join automation_entries n on n.automation_id = ${id}::uuid and n.contact_id = c.id
        where ${await selected(tx, projectId, selector)}) e) asked`);
  if (counts === null) throw new Error('Postgres did not answer');
  const { total, ...refusals } = counts;
  const skipped = Object.entries(refusals).filter(([, count]) => count > 0);
  return {
    dryRun: true,
    contacts: total,
    enters: total - skipped.reduce((sum, [, count]) => sum + count, 0),
    reasons: Object.fromEntries(skipped.map(([why, count]) => [whyNot[why as keyof typeof refusals], count])),
  };
}

async function selected(tx: Database, projectId: string, selector: Selector): Promise<Query> {
  const now = new Date();
  if (selector.mode === 'query') return matching(projectId, await filterOf(tx, projectId, selector, now), 'all');
  const { name, since, where } = selector.event;
  return sql`c.project_id = ${projectId} and c.id in (
    select t.contact_id from events t
    where ${eventQuery(projectId, name, where, now)} and t.created_at >= ${since}::timestamptz)`;
}

async function filterOf(
  tx: Database,
  projectId: string,
  { filter }: Selector & { mode: 'query' },
  now: Date,
): Promise<ContactFilter> {
  const { condition, segments } = await storedDefinition(tx, projectId, filter.condition);
  const compiled = (reach: 'page' | 'all') => conditionQuery(condition, { projectId, now, segments, reach });
  const key = JSON.stringify(filter.condition);
  return { search: null, subscribed: null, condition: { key, page: compiled('page'), all: compiled('all') } };
}

/** How far a job is: the last contact or event that was read, and how many contacts have entered since the minute began. */
interface Place {
  after?: string;
  at?: string;
  expected?: number;
  minute?: string;
  entered?: number;
}

interface Page {
  requests: StartRequest[];
  /** Contacts or events that were read. */
  read: number;
  place: Place;
  progress: number;
}

const contactsPerPage = 200;
const minuteMs = 60_000;

/**
 * Enrolls the next contacts of a job that the transaction has locked, at most `most` and as many as its pace leaves in this minute. Their
 * executions, the counts of the job and its place are one commit. Nothing is done, and the report is `busy`, while none may enter.
 */
export async function enrollSome(
  tx: Database,
  job: JobRow,
  { most, startsPerHour }: { most: number; startsPerHour: number },
): Promise<Step> {
  const { projectId, position: from, limitedBy, total: rows, failed, progress } = job;
  const { workflowId, mostPerMinute, selector } = job.spec as unknown as EnrollSpec;
  const stays = { position: from, isLast: false };
  const minute = minuteOf(job.place as Place, Date.now());
  const left = (mostPerMinute ?? Infinity) - minute.entered;
  const limit = Math.min(contactsPerPage, most, left);
  if (limit <= 0) {
    const waitMs = left <= 0 ? { waitMs: Date.parse(minute.minute) + minuteMs - Date.now() } : {};
    return { ...stays, report: { state: 'busy', rows, failed, progress, ...waitMs } };
  }
  const failure = await whyNobody(tx, projectId, workflowId);
  const report = { state: 'unfinished', rows, failed, progress } as const;
  if (failure !== null) return { ...stays, report, isLast: true, failure };
  if ((await tx.em.count(Automation, { id: workflowId, pausedAt: { $ne: null } })) > 0)
    return { ...stays, report: { ...report, state: 'busy', waitMs: minuteMs } };
  const page =
    selector.mode === 'query' ? await matched(tx, job, selector, limit) : await happened(tx, job, selector, limit);
  const requests = page.requests.map((request) => ({ ...request, limitedBy }));
  const { outcomes, starts } = await startRuns(tx, projectId, workflowId, requests, startsPerHour);
  const runs = outcomes.flatMap(({ run }) => run?.id ?? []);
  const errors = outcomes.flatMap(({ outcome }, n): JobErrorRow[] => {
    const subject = requests[n]?.contactId ?? null;
    return outcome === 'started' ? [] : [{ row: Number(from) + n, subject, email: null, error: whyNot[outcome] }];
  });
  const position = String(Number(from) + page.read);
  const step = { position, progress: page.progress, created: 0, updated: runs.length, unchanged: 0, errors };
  const place = { ...page.place, minute: minute.minute, entered: minute.entered + runs.length };
  return {
    report: await advanceJob(tx, job, { ...step, place: place as JsonObjectValue }),
    position,
    isLast: page.read < limit,
    tickets: await enqueueAll(tx, starts),
    runs,
  };
}

function minuteOf({ minute, entered = 0 }: Place, now: number): { minute: string; entered: number } {
  if (minute !== undefined && now < Date.parse(minute) + minuteMs) return { minute, entered };
  return { minute: new Date(now).toISOString(), entered: 0 };
}

async function whyNobody(tx: Database, projectId: string, id: string): Promise<string | null> {
  const automation = await tx.em.findOne(
    Automation,
    { projectId, id },
    { fields: ['enabled'], disableIdentityMap: true },
  );
  if (automation === null) return 'The workflow was deleted while contacts were enrolled';
  if (!automation.enabled) return 'The workflow was disabled while contacts were enrolled';
  const isDisabled = (await tx.em.count(Project, { id: projectId, disabled: true })) > 0;
  return isDisabled ? 'The project was disabled while contacts were enrolled' : null;
}

async function matched(
  tx: Database,
  job: JobRow,
  selector: Selector & { mode: 'query' },
  limit: number,
): Promise<Page> {
  // Windows of time count back from one instant, however long the job takes.
  const filter = await filterOf(tx, job.projectId, selector, new Date(job.createdAt));
  const place = job.place as Place;
  const { after = leastId, expected = await countContacts(tx, job.projectId, filter) } = place;
  const ids = await matchingContacts(tx, job, filter, [], after, limit);
  const done = Number(job.position) + ids.length;
  return {
    requests: ids.map((contactId) => ({ contactId, context: null, sourceEventId: null })),
    read: ids.length,
    place: { after: ids.at(-1) ?? after, expected },
    progress: expected === 0 ? 0 : Math.min(99, Math.floor((100 * done) / expected)),
  };
}

interface Happened {
  read: number;
  at: string | null;
  after: string | null;
  contacts: { id: string; data: JsonObjectValue | null }[];
}

async function happened(
  tx: Database,
  { projectId, place, createdAt }: JobRow,
  { event }: Selector & { mode: 'event' },
  limit: number,
): Promise<Page> {
  const until = new Date(createdAt);
  const { at = event.since, after = leastId } = place as Place;
  const row = await tx.row<Happened>(pageOfEvents(projectId, event, { at, after, until, limit }));
  if (row === null) throw new Error('Postgres did not answer');
  const [begin, end] = [Date.parse(event.since), until.getTime()];
  const reached = row.at === null ? end : Date.parse(row.at);
  return {
    requests: row.contacts.map(({ id: contactId, data }) => ({
      contactId,
      context: data === null ? null : contextOf(data),
      sourceEventId: null,
    })),
    read: row.read,
    place: { at: row.at ?? at, after: row.after ?? after },
    progress: Math.max(0, Math.min(99, Math.floor((100 * (reached - begin)) / Math.max(1, end - begin)))),
  };
}

/**
 * The contacts of the next events, in the order of their time, each at the latest of its events that match: those of before are passed, so
 * that nobody is met twice. Events of a contact at one instant are read together: a page may have more events than `limit`, never more contacts.
 */
export function pageOfEvents(
  projectId: string,
  { name, where }: Pick<EventOfPast, 'name' | 'where'>,
  { at, after, until, limit }: { at: string; after: string; until: Date; limit: number },
): Query {
  const tests = eventQuery(projectId, name, where, until);
  return sql`
    with met as materialized (
      select t.* from events t
      where t.project_id = ${projectId} and t.name = ${name} and t.contact_id is not null
        and (t.created_at, t.contact_id) > (${at}::timestamptz, ${after}::uuid) and t.created_at <= ${until}
      order by t.created_at, t.contact_id fetch first (${limit}::integer) rows with ties),
    latest as (
      select distinct on (e.contact_id) e.contact_id, ${raw(eventData('e'))} as data
      from (select t.* from met t where ${tests}) e
      where not exists (
        select from events t where ${tests} and t.contact_id = e.contact_id and t.created_at > e.created_at
          and t.created_at <= ${until})
      order by e.contact_id, e.created_at desc, e.id desc)
    select (select count(*)::int from met) as read, ${raw(isoText('place.created_at'))} as at, place.contact_id as after,
      coalesce((select jsonb_agg(jsonb_build_object('id', contact_id, 'data', data)) from latest), '[]') as contacts
    from (values (1)) one left join lateral (
      select created_at, contact_id from met order by created_at desc, contact_id desc limit 1) place on true`;
}

import { defineEntity, type InferEntity } from '@mikro-orm/core';
import { eventQuery } from '../../contacts/conditions.ts';
import { changesOf } from '../../contacts/history-queries.ts';
import { Job } from '../../imports/queries.ts';
import type { JsonObjectValue } from '../../lib/contact-data.ts';
import { isoText } from '../../store/columns.ts';
import { type Database, join, raw, sql } from '../../store/sql.ts';
import type { StepContact } from '../runtime/condition.ts';
import { type StepRun, stepRunFields } from '../runtime/run-queries.ts';
import type { Outcome } from './tally.ts';

const p = defineEntity.properties;

/**
 * A contact of a simulation, or an execution that it is compared with; `outcome` is null until it is its turn. `tags` are what lists filter by: steps
 * and paths, ends, collisions, and what differs.
 */
export const SimulatedContact = defineEntity({
  name: 'SimulatedContact',
  tableName: 'simulated_contacts',
  properties: {
    jobId: p.manyToOne(Job).mapToPk().deleteRule('cascade').primary().updateRule('no action'),
    n: p.integer().primary(),
    contactId: p.uuid(),
    runId: p.uuid().nullable(),
    tags: p.array().defaultRaw("'{}'::text[]"),
    outcome: p.json<Outcome>().nullable(),
  },
});
export type SimulatedContact = InferEntity<typeof SimulatedContact>;

/** An event that graphs ask for: by its name, with tests of its data. */
export interface Asked {
  eventName: string;
  where: unknown;
}

/** What of a contact a simulation knows, from an instant on. Instants are ISO 8601. */
export interface ContactFacts extends StepContact {
  /** Changes of the contact, in their order. */
  changes: ContactChange[];
  /** Events that graphs ask for, in the order of their time and ID; `passes` says of each question whether the event is one. */
  events: RecordedEvent[];
  /** Times of entry into the workflow ever. */
  entries: number;
  /** Executions of the workflow that are kept, oldest first. */
  runs: { startedAt: string; completedAt: string | null }[];
}

interface ContactChange {
  at: string;
  /** The workflow made it. */
  own: boolean;
  type: string;
  before: JsonObjectValue | null;
  after: JsonObjectValue;
  subscribedBefore: boolean | null;
  subscribedAfter: boolean;
  emailBefore: string | null;
  emailAfter: string | null;
}

export interface RecordedEvent {
  id: string;
  at: string;
  limitedBy: string | null;
  passes: boolean[];
}

/** Most changes and events of a contact that a simulation reads. */
export const mostChanges = 1_000;
export const mostEvents = 2_000;

const iso = (column: string) => raw(isoText(column));

/** Reads what is known of contacts between two instants. */
export function factsOf(
  db: Database,
  { projectId, automationId }: { projectId: string; automationId: string },
  ids: readonly string[],
  { from, until, asked }: { from: string; until: string; asked: readonly Asked[] },
): Promise<ContactFacts[]> {
  const tests = asked.map(({ eventName, where }) => eventQuery(projectId, eventName, where, new Date(from)));
  const names = [...new Set(asked.map(({ eventName }) => eventName))];
  return db.rows<ContactFacts>(sql`
    select c.id, c.email, c.subscribed, c.data, ${iso('c.created_at')} as "createdAt", ${iso('c.updated_at')} as "updatedAt",
      coalesce((select n.last_entry from automation_entries n where n.automation_id = ${automationId}::uuid and n.contact_id = c.id), 0) as entries,
      coalesce((
        select jsonb_agg(jsonb_build_object('startedAt', ${iso('r.started_at')}, 'completedAt', ${iso('r.completed_at')}) order by r.started_at)
        from (select started_at, completed_at from automation_runs
          where automation_id = ${automationId}::uuid and contact_id = c.id order by started_at desc limit 1000) r), '[]') as runs,
      coalesce((
        select jsonb_agg(jsonb_build_object('at', ${iso('h.at')}, 'own', h.cause ->> 'type' = 'step' and h.cause ->> 'id' = ${automationId}::text,
          'type', h.cause ->> 'type', 'before', h.before, 'after', h.after, 'subscribedBefore', h.subscribed_before,
          'subscribedAfter', h.subscribed_after, 'emailBefore', h.email_before, 'emailAfter', h.email_after) order by h.at)
        from (select * from ${changesOf(projectId, raw('c.id'))} h
          where h.at >= ${from}::timestamptz and h.moved is null order by h.at desc limit ${mostChanges}) h), '[]') as changes,
      coalesce((
        select jsonb_agg(jsonb_build_object('id', t.id, 'at', ${iso('t.created_at')}, 'limitedBy', t.limited_by,
          'passes', array[${join(tests, ', ')}]::boolean[]) order by t.created_at, t.id)
        from (select * from events t where t.contact_id = c.id and t.project_id = ${projectId}::uuid and t.name = any (${names}::text[])
          and t.created_at between ${from}::timestamptz and ${until}::timestamptz order by t.created_at, t.id limit ${mostEvents}) t), '[]') as events
    from contacts c where c.project_id = ${projectId}::uuid and c.id = any (${ids}::uuid[])`);
}

/** The contacts that an event happened to within a time, by the first one of each; at most `limit`. */
export function contactsOfEvent(
  db: Database,
  projectId: string,
  { eventName, where }: Asked,
  { from, until }: { from: string; until: string },
  limit: number,
): Promise<{ contactId: string }[]> {
  return db.rows(sql`
    select t.contact_id as "contactId" from events t
    where ${eventQuery(projectId, eventName, where, new Date(from))} and t.contact_id is not null
      and t.created_at between ${from}::timestamptz and ${until}::timestamptz
    group by t.contact_id order by min(t.created_at), t.contact_id limit ${limit}`);
}

/** The step executions of runs, in the order in which they began, by the ID of the run. */
export async function recordedSteps(db: Database, runIds: readonly string[]): Promise<Map<string, StepRun[]>> {
  const rows = await db.rows<StepRun & { runId: string }>(sql`
    select x.run_id as "runId", ${stepRunFields} from automation_step_runs x where x.run_id = any (${runIds}::uuid[]) order by x.run_id, x.seq`);
  return Map.groupBy(rows, ({ runId }) => runId);
}

/**
 * What of a contact a simulation takes for the instant of an event: the request that recorded the event may have changed the contact a
 * moment after it, and its execution begins a moment later.
 */
const momentMs = 1_000;

/** A contact through time, without what the workflow itself has changed since an entry. */
export class Timeline {
  readonly facts: ContactFacts;
  #later: ContactChange[];
  readonly #momentMs: number;
  /** The contact at the entry. */
  readonly entering: StepContact;

  /** @param isRecorded the instants are those of steps, which saw all that had happened */
  constructor(facts: ContactFacts, at: string, isRecorded: boolean) {
    this.facts = facts;
    this.#momentMs = isRecorded ? 0 : momentMs;
    const { id, email, subscribed, data, createdAt, updatedAt, changes } = facts;
    // What the workflow makes of whoever enters it, it makes afterwards: often within the very moment.
    const isAfterEntry = (change: ContactChange) =>
      change.own ? Date.parse(change.at) >= Date.parse(at) : this.#isLater(change, at);
    const later = changes.filter(isAfterEntry);
    const lastBefore = changes.findLast((change) => !isAfterEntry(change))?.at;
    const contact = {
      id,
      email,
      subscribed,
      data: { ...data },
      createdAt,
      updatedAt: lastBefore ?? (later.length > 0 ? createdAt : updatedAt),
    };
    for (const change of later.toReversed()) undo(contact, change);
    this.entering = contact;
    this.#later = later.filter(({ own }) => !own);
  }

  /** The contact at an instant, from the way that the steps have left it: what others have changed by then is changed. */
  at(contact: StepContact, now: string): StepContact {
    const changed = this.by(contact, now);
    this.#later = this.#later.filter((change) => this.#isLater(change, now));
    return changed;
  }

  /** As `at`, for a look ahead. */
  by(contact: StepContact, now: string): StepContact {
    return this.#later.filter((change) => !this.#isLater(change, now)).reduce(redo, contact);
  }

  /** The instant of the next change by others after an instant, before another one. */
  nextChange(now: string, before: string): string | null {
    return this.#later.find(({ at }) => at > now && at < before)?.at ?? null;
  }

  #isLater({ at }: ContactChange, now: string): boolean {
    return Date.parse(at) > Date.parse(now) + this.#momentMs;
  }
}

function undo(contact: StepContact, { before, after, subscribedBefore, emailBefore }: ContactChange): void {
  if (before === null) return;
  for (const key of Object.keys(after)) if (!Object.hasOwn(before, key)) delete contact.data[key];
  Object.assign(contact.data, before);
  contact.subscribed = subscribedBefore ?? contact.subscribed;
  contact.email = emailBefore ?? contact.email;
}

function redo(contact: StepContact, change: ContactChange): StepContact {
  const { before, after, subscribedBefore, subscribedAfter, emailAfter, at } = change;
  const gone = Object.keys(before ?? {}).filter((key) => !Object.hasOwn(after, key));
  const kept = Object.entries({ ...contact.data, ...after }).filter(([key]) => !gone.includes(key));
  return {
    ...contact,
    data: Object.fromEntries(kept),
    subscribed: subscribedBefore === subscribedAfter ? contact.subscribed : subscribedAfter,
    email: emailAfter ?? contact.email,
    updatedAt: at,
  };
}

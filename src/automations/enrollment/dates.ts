import { type InferEntity, LockMode } from '@mikro-orm/core';
import { Contact } from '../../contacts/entity.ts';
import type { JsonObjectValue } from '../../lib/contact-data.ts';
import { idByHash, leastId } from '../../lib/ids.ts';
import { type Clock, dayMs } from '../../lib/time.ts';
import { Project } from '../../projects/queries.ts';
import { type HorizonTimes, settledHorizon } from '../../segments/changes.ts';
import { type Database, sql } from '../../store/sql.ts';
import { Automation, AutomationDate, AutomationDatePlace } from '../entity.ts';
import { type DateTrigger, isDate, occurrencesOf, readDateTrigger, zoneFor } from '../graph/wait-until.ts';
import { fieldValue, type StepContact } from '../runtime/condition.ts';

/** The dependencies of enrolling by dates. */
export interface DateDeps {
  db: Database;
  clock: Clock;
  stop: AbortSignal;
  contactsPerPage?: number;
  /** How long transactions of others hold back what is followed. */
  horizon?: HorizonTimes;
}

/** What was missed for longer than this, as while no worker ran, is not made up for. */
const longestDelayMs = 7 * dayMs;
// One automation does not keep the others waiting for longer than this.
const turnMs = 10_000;
const defaultPage = 5_000;

/**
 * Builds the pass that a worker repeats every few seconds: of each enabled automation that dates start, contacts whose date has come are added to the
 * pending enrollments, and contacts that were changed get their next date. A page of either is one transaction under the lock of the
 * automation's place, so whatever dies when, each date of a contact enrolls it once. Answers how many were added.
 */
export function createDateSweep(deps: DateDeps): () => Promise<number> {
  return async () => {
    const enabled = { triggerType: 'DATE', enabled: true } as const;
    const automations = await deps.db.session().em.find(Automation, enabled, { fields: ['id'] });
    let entered = 0;
    for (const { id } of automations) {
      const endsAt = performance.now() + turnMs;
      for (let more = true; more && !deps.stop.aborted && performance.now() < endsAt; ) {
        const page = await deps.db.transaction((tx) => sweepPage(tx, id, deps));
        entered += page?.entered ?? 0;
        more = page?.more ?? false;
      }
    }
    return entered;
  };
}

/** The next date of a contact, and whether the one before enrolls it, as the statement that writes it takes it. */
interface Placed {
  contactId: string;
  dueAt: string | null;
  isInvalid: boolean;
  /** The last day that enrolled the contact. */
  lastDay: string | null;
  enters: boolean;
}

async function sweepPage(
  tx: Database,
  id: string,
  { clock, contactsPerPage: limit = defaultPage, horizon }: DateDeps,
): Promise<{ entered: number; more: boolean } | null> {
  const automation = await tx.em.findOne(Automation, { id, enabled: true, triggerType: 'DATE' });
  const trigger = automation && readDateTrigger(automation.triggerConfig).trigger;
  if (!trigger) return null;
  const place = await placeOf(tx, automation);
  if (place === null) return null;
  const { projectId } = automation;
  const now = clock().getTime();
  const sweep = { automation, trigger, now, earliest: Math.max(place.since.getTime(), now - longestDelayMs) };
  const { rows, more } = await dueRows(tx, sweep, limit);
  const changed = more ? null : await followed(tx, sweep, place, await settledHorizon(tx, horizon), limit);
  // A disabled project's time passes without anybody enrolled.
  const isDisabled = (await tx.em.count(Project, { id: projectId, disabled: true })) > 0;
  const all = [...rows, ...(changed?.rows ?? [])].map((row) => ({ ...row, enters: row.enters && !isDisabled }));
  const entered = all.length === 0 ? 0 : await write(tx, automation, all);
  if (changed !== null) await tx.em.nativeUpdate(AutomationDatePlace, { automationId: id }, changed.place);
  return { entered, more: more || (changed?.more ?? false) };
}

interface Sweep {
  automation: Automation;
  trigger: DateTrigger;
  now: number;
  /** Dates before this instant enroll nobody. */
  earliest: number;
}

/** Locks the place of an automation; null while another worker has it. It begins anew when the trigger was changed or enabled. */
async function placeOf(tx: Database, { id, scheduleRevision: revision, updatedAt }: Automation) {
  const begin = { revision, since: updatedAt, followedAt: new Date(0), followedId: leastId };
  if ((await tx.em.count(AutomationDatePlace, { automationId: id })) === 0)
    await tx.em.upsert(AutomationDatePlace, { automationId: id, ...begin }, { onConflictAction: 'ignore' });
  const lock = { lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE, disableIdentityMap: true } as const;
  const place = await tx.em.findOne(AutomationDatePlace, { automationId: id }, lock);
  if (place === null || place.revision === revision) return place;
  await tx.em.nativeUpdate(AutomationDatePlace, { automationId: id }, begin);
  return { ...place, ...begin };
}

// Decided by the contact as it is now: it may have got another date, or another zone, that is not followed yet.
async function dueRows(tx: Database, sweep: Sweep, limit: number): Promise<{ rows: Placed[]; more: boolean }> {
  const automationId = sweep.automation.id;
  const due = await tx.em.find(
    AutomationDate,
    { automationId, dueAt: { $lte: new Date(sweep.now) } },
    { orderBy: { dueAt: 'asc' }, limit, disableIdentityMap: true },
  );
  if (due.length === 0) return { rows: [], more: false };
  const ids = due.map(({ contactId }) => contactId);
  const { projectId } = sweep.automation;
  const contacts = await tx.em.find(Contact, { projectId, id: ids }, { disableIdentityMap: true });
  const known = new Map(contacts.map((contact) => [contact.id, contact]));
  const gone = ids.filter((contactId) => !known.has(contactId));
  if (gone.length > 0) await tx.em.nativeDelete(AutomationDate, { automationId, contactId: gone });
  const rows = due.flatMap(({ contactId, dueAt, lastDay }) => {
    const contact = known.get(contactId);
    return contact ? [placed(sweep, contact, lastDay ?? null, dueAt?.getTime() ?? sweep.now)] : [];
  });
  return { rows, more: due.length === limit };
}

async function followed(
  tx: Database,
  sweep: Sweep,
  { followedAt, followedId }: { followedAt: Date; followedId: string },
  horizon: string,
  limit: number,
) {
  const { id: automationId, projectId } = sweep.automation;
  const until = new Date(horizon);
  if (until <= followedAt) return null;
  const contacts = await tx.em.find(
    Contact,
    {
      projectId,
      updatedAt: { $gte: followedAt, $lt: until },
      $or: [{ updatedAt: { $gt: followedAt } }, { id: { $gt: followedId } }],
    },
    { orderBy: { updatedAt: 'asc', id: 'asc' }, limit, disableIdentityMap: true },
  );
  const ids = contacts.map(({ id }) => id);
  const dates = await tx.em.find(AutomationDate, { automationId, contactId: ids }, { disableIdentityMap: true });
  const known = new Map(dates.map((date) => [date.contactId, date]));
  const rows = contacts.flatMap((contact) => {
    const before = known.get(contact.id);
    // What is due is decided when it is taken; so is a date that has come since the change, as while no worker ran.
    if (before?.dueAt && before.dueAt.getTime() <= sweep.now) return [];
    const row = placed(
      { ...sweep, now: Number.NEGATIVE_INFINITY },
      contact,
      before?.lastDay ?? null,
      contact.updatedAt.getTime(),
    );
    return before || row.dueAt !== null || row.isInvalid ? [row] : [];
  });
  const last = contacts.length === limit ? contacts.at(-1) : undefined;
  const place = last ? { followedAt: last.updatedAt, followedId: last.id } : { followedAt: until, followedId: leastId };
  return { rows, place, more: last !== undefined };
}

/** Whether a date of a contact from an instant on has come, and the next one; without the day that has enrolled it already. */
function placed(
  { trigger, now, earliest }: Sweep,
  contact: Pick<InferEntity<typeof Contact>, keyof StepContact>,
  lastDay: string | null,
  from: number,
): Placed {
  const facts = stepContact(contact);
  const value = fieldValue(trigger.field, { contact: facts, context: null });
  const { zone } = zoneFor(trigger, facts.data);
  const isInvalid = value !== undefined && value !== null && value !== '' && !isDate(value);
  let row: Placed = { contactId: contact.id, dueAt: null, isInvalid, lastDay, enters: false };
  for (const { day, at } of occurrencesOf(trigger, value, zone, Math.max(from, earliest))) {
    if (day === row.lastDay) continue;
    if (at > now) return { ...row, dueAt: new Date(at).toISOString() };
    row = { ...row, lastDay: day, enters: true };
  }
  return row;
}

function stepContact({ createdAt, updatedAt, data, ...contact }: Parameters<typeof placed>[1]): StepContact {
  const instants = { createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() };
  return { ...contact, data: data as JsonObjectValue, ...instants };
}

/** The ID under which a day enrolls a contact, by which it does so once. */
export function idOfDay(automationId: string, contactId: string, day: string): string {
  return idByHash(`${automationId} ${contactId} ${day}`);
}

async function write(tx: Database, { id, projectId }: Automation, placements: readonly Placed[]): Promise<number> {
  const rows = placements.map((row) => ({ ...row, eventId: row.lastDay && idOfDay(id, row.contactId, row.lastDay) }));
  const row = await tx.row<{ entered: number }>(sql`
    with placed as materialized (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as p (
        "contactId" uuid, "dueAt" timestamptz, "isInvalid" boolean, "lastDay" date, "eventId" uuid, enters boolean)),
    moved as (
      insert into automation_dates (automation_id, contact_id, due_at, is_invalid, last_day)
      select ${id}::uuid, "contactId", "dueAt", "isInvalid", "lastDay" from placed order by "contactId"
      on conflict (contact_id, automation_id) do update set
        due_at = excluded.due_at, is_invalid = excluded.is_invalid, last_day = excluded.last_day),
    added as (
      insert into automation_arrivals (automation_id, project_id, contact_id, event_id)
      select ${id}::uuid, ${projectId}::uuid, "contactId", "eventId"
      from placed where enters
      on conflict (automation_id, event_id) do nothing
      returning pg_notify('fernpost_arrivals', ''))
    select count(*)::int as entered from added`);
  return row?.entered ?? 0;
}

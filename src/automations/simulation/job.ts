import { triggerOf } from '@fernpost/workflow-graph';
import { type Step, shareReportOf, superseded } from '../../imports/bulk.ts';
import { matchingContacts } from '../../imports/bulk-queries.ts';
import { advanceJob, findJob, type JobRow, lockJobAt } from '../../imports/queries.ts';
import type { JsonObjectValue } from '../../lib/contact-data.ts';
import { activeStatuses } from '../../lib/enums.ts';
import { leastId } from '../../lib/ids.ts';
import type { Database } from '../../store/sql.ts';
import { Automation, AutomationRun } from '../entity.ts';
import { settingsOf } from '../test-run/service.ts';
import { contactsOfEvent, SimulatedContact } from './facts.ts';
import { membersOf, type SimulationSpec } from './service.ts';
import { contactsPerStep, Share, type SimulationDeps, type SimulationPlace } from './share.ts';
import { noSums } from './tally.ts';

/**
 * Simulates the next contacts of a job. What is read is read without a lock; rows, sums and the place of the job are one commit, so that a share
 * that is repeated counts nobody twice.
 */
export async function simulateSome(db: Database, deps: SimulationDeps, jobId: string, from: string): Promise<Step> {
  const store = db.session();
  const job = await findJob(store, jobId);
  if (job === null || job.position !== from)
    return { report: await superseded(db, jobId), position: from, isLast: false };
  const automation = await store.em.findOne(
    Automation,
    { id: (job.spec as unknown as SimulationSpec).workflowId },
    { disableIdentityMap: true },
  );
  if (automation === null)
    return {
      report: shareReportOf(job, 'unfinished'),
      position: from,
      isLast: true,
      failure: 'The workflow was deleted',
    };
  if (from === '0') return select(db, job);
  const share = new Share(store, deps, job, automation);
  const done = await share.simulate();
  return db.transaction(async (tx) => {
    const locked = await lockJobAt(tx, jobId, from);
    if (locked === null) return { report: await superseded(tx, jobId), position: from, isLast: false };
    if (done.length > 0) await tx.em.upsertMany(SimulatedContact, done);
    return advance(tx, locked, share.place, done.length, done.length < contactsPerStep);
  });
}

async function advance(
  tx: Database,
  job: JobRow,
  place: SimulationPlace,
  rows: number,
  isLast: boolean,
): Promise<Step> {
  const position = Number(job.position) + rows;
  const progress = place.total === 0 ? 0 : Math.min(99, Math.floor((100 * (position - 1)) / place.total));
  const counts = { created: 0, updated: rows, unchanged: 0, errors: [] };
  const next = { position: String(position), place: place as unknown as JsonObjectValue, progress };
  return { report: await advanceJob(tx, job, { ...next, ...counts }), position: String(position), isLast };
}

// Whom it is for is decided once, so that whoever goes on meets the same contacts in the same order.
function select(db: Database, job: JobRow): Promise<Step> {
  return db.transaction(async (tx) => {
    const locked = await lockJobAt(tx, job.id, '0');
    if (locked === null) return { report: await superseded(tx, job.id), position: '0', isLast: false };
    const spec = job.spec as unknown as SimulationSpec;
    const wanted = await populationOf(tx, job, spec);
    const rows = wanted.slice(0, spec.most).map((row, n) => ({ jobId: job.id, n: n + 1, ...row }));
    for (let n = 0; n < rows.length; n += 2_000) await tx.em.insertMany(SimulatedContact, rows.slice(n, n + 2_000));
    const { project } = await settingsOf(tx, job.projectId);
    const place: SimulationPlace = {
      ...{ total: rows.length, more: wanted.length > rows.length, gone: 0, timeZone: project.timeZone ?? 'UTC' },
      ...{ here: noSums(), there: spec.there === null ? null : noSums(), mails: {}, unknown: {}, versions: [] },
      agreement: { agree: 0, compared: 0, notComparable: {}, differences: [] },
    };
    return { ...(await advance(tx, locked, place, 1, rows.length === 0)) };
  });
}

type Selected = Pick<SimulatedContact, 'contactId'> & { runId: string | null };

// One more than wanted, where there are more.
async function populationOf(tx: Database, job: JobRow, spec: SimulationSpec): Promise<Selected[]> {
  const { projectId } = job;
  const { over, most, there, here, workflowId: automationId } = spec;
  const limit = most + 1;
  if (over.event && there !== 'actual') {
    const config = here && triggerOf(here.graph)?.config;
    const asked = { eventName: String(config?.eventName), where: config?.where };
    const rows = await contactsOfEvent(tx, projectId, asked, over.event, limit);
    return rows.map(({ contactId }) => ({ contactId, runId: null }));
  }
  const ids = over.event ? null : await contactsOf(tx, job, spec, there === 'actual' ? Number.MAX_SAFE_INTEGER : limit);
  if (there !== 'actual') return (ids ?? []).map((contactId) => ({ contactId, runId: null }));
  const started = over.event && { startedAt: { $gte: new Date(over.event.from), $lte: new Date(over.event.until) } };
  const ended = {
    projectId,
    automationId,
    status: { $nin: [...activeStatuses.all] },
    ...started,
    ...(ids && { contactId: { $in: ids } }),
  };
  const runs = await tx.em.find(AutomationRun, ended, {
    ...{ fields: ['contactId'], orderBy: { startedAt: 'asc', id: 'asc' }, limit, disableIdentityMap: true },
  });
  return runs.map(({ id: runId, contactId }) => ({ contactId, runId }));
}

async function contactsOf(tx: Database, job: JobRow, { over }: SimulationSpec, limit: number): Promise<string[]> {
  if (over.contactIds) return [...new Set(over.contactIds)].sort().slice(0, limit);
  const filter = await membersOf(tx, job.projectId, over.segmentId ?? leastId, new Date(job.createdAt));
  return matchingContacts(tx, job, filter, [], leastId, Math.min(limit, 100_000));
}

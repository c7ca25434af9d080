import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { conflict, notFound } from '../lib/errors.ts';
import { newId, placeByHash } from '../lib/ids.ts';
import { offsetAnswer, offsetPage } from '../lib/pages.ts';
import { isoText, lockRow } from '../store/columns.ts';
import { type Database, raw, sql } from '../store/sql.ts';
import { Template } from '../templates/queries.ts';
import { Automation, AutomationRollout, AutomationVersion, AutomationWatch } from './entity.ts';
import { exitsOf, goalOf, watchesOf } from './graph/exits.ts';
import type { Graph } from './graph/graph.ts';
import { findAutomation, found, stepsOf, transitionsOf } from './queries.ts';
import { isActive } from './rows.ts';
import type { ListVersions, RolloutBody, VersionPage, VersionWithGraph } from './schema.ts';

/**
 * The version that new runs are pinned to (docs/contract/campaigns-and-workflows.md#4-11). After an edit a new one is written
 * here, in the caller's transaction; a graph that was there before has its old version. Null when the automation is gone.
 */
export async function ensureVersion(tx: Database, automationId: string): Promise<string | null> {
  return (await entryVersions(tx, automationId))?.current ?? null;
}

/** The versions that new contacts get: the current one; while it is rolled out, the one before as well, and the share of the current one. */
interface EntryVersions {
  current: string;
  rollout: { id: string; share: number; before: string } | null;
}

/** As `ensureVersion`, with the rollout as it is at the same instant; null when the automation is gone. */
async function entryVersions(tx: Database, automationId: string): Promise<EntryVersions | null> {
  const seen = await currentVersions(tx, automationId);
  if (seen === null || seen.current !== null) return seen as EntryVersions | null;
  // Edits change this row too, so none of them can come between reading the graph and writing it.
  await lockRow(tx, 'automations', automationId);
  const locked = await currentVersions(tx, automationId);
  if (locked === null || locked.current !== null) return locked as EntryVersions | null;
  return { current: await writeVersion(tx, automationId), rollout: null };
}

async function writeVersion(tx: Database, automationId: string): Promise<string> {
  const graph = await draftGraph(tx, automationId);
  const { id, version } = await placeOfGraph(tx, automationId, graph);
  const currentVersionId = id ?? newId();
  if (id === null) {
    const steps = await stepsOf(tx, automationId);
    const layout = Object.fromEntries(steps.map((step) => [step.id, step.position]));
    const notes = steps.flatMap((step) => (step.note === null ? [] : [[step.id, step.note]]));
    const kept = { layout, notes: notes.length === 0 ? null : Object.fromEntries(notes) };
    const pinned = { id: currentVersionId, automationId, version, graph, hash: graphHash(graph), ...kept };
    await tx.em.insert(AutomationVersion, pinned);
    const { projectId } = await tx.em.findOneOrFail(
      Automation,
      { id: automationId },
      { fields: ['projectId'], disableIdentityMap: true },
    );
    for (const [eventName, listening] of watchesOf(graph.steps))
      await tx.em.insert(AutomationWatch, { versionId: pinned.id, eventName, projectId, automationId, ...listening });
  }
  await tx.em.nativeUpdate(Automation, { id: automationId }, { graphDirty: false, currentVersionId });
  return currentVersionId;
}

/** The version that has a graph; where none has, the ID is null and the number is that of a new one. */
export async function placeOfGraph(
  db: Database,
  automationId: string,
  graph: Graph,
): Promise<{ id: string | null; version: number }> {
  const options = { fields: ['version'], orderBy: { version: 'desc' }, disableIdentityMap: true } as const;
  const known = await db.em.findOne(AutomationVersion, { automationId, hash: graphHash(graph) }, options);
  if (known !== null) return { id: known.id, version: known.version };
  const newest = await db.em.findOne(AutomationVersion, { automationId }, options);
  return { id: null, version: (newest?.version ?? 0) + 1 };
}

// The version is null where the graph has changed since it was written. One statement reads both: a rollout begins with the version.
function currentVersions(
  tx: Database,
  automationId: string,
): Promise<{ current: string | null; rollout: EntryVersions['rollout'] } | null> {
  return tx.row(sql`
    select coalesce(k.version_id, case when not a.graph_dirty then a.current_version_id end) as current,
      case when k.id is not null then jsonb_build_object('id', k.id, 'share', k.share, 'before', k.before_version_id) end as rollout
    from automations a left join automation_rollouts k on k.automation_id = a.id and k.state = 'RUNNING' where a.id = ${automationId}`);
}

/**
 * Answers which version a contact who enters now is pinned to; null when the automation is gone. While a version is rolled out, it is for the
 * contacts whose hash is below its share: who has it keeps it when the share rises.
 */
export async function versionsForEntry(
  tx: Database,
  automationId: string,
): Promise<((contactId: string) => PinnedVersion) | null> {
  const versions = await entryVersions(tx, automationId);
  const current = versions && (await pinnedVersion(tx, versions.current));
  if (!current) return null;
  const { rollout } = versions;
  const before = rollout && (await pinnedVersion(tx, rollout.before));
  return (contactId) => (before && rollout && rolloutPlace(rollout.id, contactId) >= rollout.share ? before : current);
}

/** The place of a contact among 10,000 in a rollout: it gets the new version where that is below the share. */
export function rolloutPlace(rolloutId: string, contactId: string): number {
  return placeByHash(`rollout ${rolloutId}`, contactId);
}

/** The rollout of an automation that is under way, or null. */
export function runningRollout(db: Database, automationId: string): Promise<AutomationRollout | null> {
  return db.em.findOne(AutomationRollout, { automationId, state: 'RUNNING' }, { disableIdentityMap: true });
}

/** The latest rollout of an automation, which may be over, or null. */
export function latestRollout(db: Database, automationId: string): Promise<AutomationRollout | null> {
  const latest = { orderBy: { createdAt: 'desc', id: 'desc' }, disableIdentityMap: true } as const;
  return db.em.findOne(AutomationRollout, { automationId }, latest);
}

/** Contacts who must have entered a version before the limits of its rollout count: one failure of two says nothing. */
export const leastEntered = 50;

/** When a rollout goes on to all new contacts by itself. */
export function endOf({ createdAt, days }: Pick<AutomationRollout, 'createdAt' | 'days'>): Date {
  return new Date(createdAt.getTime() + days * 86_400_000);
}

/** A rollout as the API shows it. */
export async function rolloutBody(db: Database, rollout: AutomationRollout): Promise<RolloutBody> {
  const { id, state, share, versionId, beforeVersionId, stopIf, days, createdAt, endedAt, stopped } = rollout;
  const [version, previous] = [await pinnedVersion(db, versionId), await pinnedVersion(db, beforeVersionId)];
  return {
    ...{ id, state, percent: share / 100, version: version?.version ?? 0, previousVersion: previous?.version ?? 0 },
    ...{ stopIf, leastEntered, days, startedAt: createdAt.toISOString(), endsAt: endOf(rollout).toISOString() },
    ...{ endedAt: endedAt?.toISOString() ?? null, stopped: stopped ?? null },
  };
}

/** @throws 409 while a version is rolled out, whose graph stays as it is until that is over; the automation must be locked */
export async function refuseDuringRollout(tx: Database, automationId: string): Promise<void> {
  if ((await runningRollout(tx, automationId)) !== null)
    throw conflict(
      'A version of this workflow is being rolled out: finish the rollout or take it back first (POST /workflows/{id}/rollout/finish or /back)',
    );
}

/** The graph of an automation as it would be pinned now. */
export async function draftGraph(db: Database, automationId: string): Promise<Graph> {
  const steps = await stepsOf(db, automationId);
  const transitions = await transitionsOf(db, automationId);
  return {
    steps: steps.map(({ id, type, name, config, templateId }) => ({ id, type, name, config, templateId })),
    transitions: transitions.map(({ id, fromStepId, toStepId, branch, waitOutcome, priority }) => {
      return { id, fromStepId, toStepId, branch, waitOutcome, priority };
    }),
  };
}

/** Two graphs with the same steps and paths have one hash, whatever the order of their keys. */
export function graphHash({ steps, transitions }: Graph): Buffer {
  const byId = [...steps].sort((one, other) => (one.id < other.id ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify(sorted({ steps: byId, transitions })))
    .digest();
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}

/** A pinned graph, with the automation's name as it is now. */
export interface PinnedVersion {
  id: string;
  automationId: string;
  version: number;
  graph: Graph;
}

const kept = new LRUCache<string, PinnedVersion>({ max: 200 });

/** A version by its id, from memory where this process has met it: versions never change. Null when it is gone. */
export async function pinnedVersion(db: Database, id: string): Promise<PinnedVersion | null> {
  const known = kept.get(id);
  if (known !== undefined) return known;
  const found = await db.session().em.findOne(AutomationVersion, { id }, { disableIdentityMap: true });
  if (found === null) return null;
  const { automationId, version, graph } = found;
  kept.set(id, { id, automationId, version, graph });
  return { id, automationId, version, graph };
}

/** Removes up to `limit` versions that nobody is or was pinned to, and whose goal counts nobody; answers how many. */
export function removeUnusedVersions(db: Database, limit: number): Promise<number> {
  return db.count(sql`
    delete from automation_versions where id in (
      select v.id from automation_versions v join automations a on a.id = v.automation_id
      where v.id is distinct from a.current_version_id
        and not exists (select from automation_runs r where r.version_id = v.id)
        and not exists (select from automation_runs r where r.next_version_id = v.id)
        and not exists (select from automation_goals g where g.version_id = v.id)
        and not exists (select from automation_migrations m where m.to_version_id = v.id)
        and not exists (select from automation_rollouts k
          where k.automation_id = v.automation_id and v.id in (k.version_id, k.before_version_id))
        and v.created_at < now() - interval '1 hour'
      limit ${limit})`);
}

/** The versions of an automation's graph that contacts were or are in, newest first. @throws 404 */
export async function listVersions(db: Database, projectId: string, automationId: string, query: ListVersions) {
  found(await findAutomation(db, projectId, automationId), automationId);
  const page = offsetPage(query, 100);
  const rows = await db.rows<VersionPage['data'][number] & { total: number }>(sql`
    select v.version, ${raw(isoText('v.created_at'))} as "createdAt", jsonb_array_length(v.graph -> 'steps') as steps,
      v.id = a.current_version_id and not a.graph_dirty as "isCurrent",
      (select count(*)::int from automation_runs r
       where r.automation_id = a.id and r.version_id = v.id and r.${isActive}) as active,
      (case v.id when k.version_id then k.share when k.before_version_id then 10000 - k.share
        when a.current_version_id then case when k.id is null and not a.graph_dirty then 10000 else 0 end else 0 end / 100.0)::float8 as share,
      count(*) over ()::int as total
    from automation_versions v join automations a on a.id = v.automation_id
      left join automation_rollouts k on k.automation_id = a.id and k.state = 'RUNNING'
    where v.automation_id = ${automationId} order by v.version desc limit ${page.pageSize} offset ${page.offset}`);
  return offsetAnswer(
    rows.map(({ total: _, ...row }) => row),
    page,
    rows[0]?.total ?? 0,
  );
}

/**
 * A version with its graph, as runs that are pinned to it execute it. Positions and notes are those of today where every step is
 * still there, else those of when it was made; null where they were not kept. @throws 404
 */
export async function getVersion(
  db: Database,
  projectId: string,
  automationId: string,
  version: string,
): Promise<VersionWithGraph> {
  found(await findAutomation(db, projectId, automationId), automationId);
  if (!/^[1-9]\d{0,8}$/.test(version)) throw notFound('version', version);
  const pinned = await db.em.findOne(AutomationVersion, { automationId, version: Number(version) });
  if (pinned === null) throw notFound('version', version);
  const { graph, layout, notes, createdAt } = pinned;
  const current = { id: automationId, currentVersionId: pinned.id, graphDirty: false };
  const isCurrent = (await db.em.count(Automation, current)) > 0;
  const ids = graph.steps.flatMap(({ templateId }) => templateId ?? []);
  const templates = await db.em.find(Template, { projectId, id: ids }, { fields: ['name'] });
  const nameOf = new Map(templates.map(({ id, name }) => [id, name]));
  const today = new Map((await stepsOf(db, automationId)).map((step) => [step.id, step]));
  const isHere = graph.steps.every(({ id }) => today.has(id));
  return {
    version: pinned.version,
    createdAt: createdAt.toISOString(),
    isCurrent,
    steps: graph.steps.map((step) => ({
      ...step,
      position: (isHere ? today.get(step.id)?.position : layout?.[step.id]) ?? null,
      note: (isHere ? today.get(step.id)?.note : notes?.[step.id]) ?? null,
      template: step.templateId === null ? null : { id: step.templateId, name: nameOf.get(step.templateId) ?? '' },
    })),
    transitions: [...graph.transitions],
    exits: exitsOf(graph.steps),
    goal: goalOf(graph.steps),
  };
}

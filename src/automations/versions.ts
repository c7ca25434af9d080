import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type Sql, statement } from '../core/database/sql.ts';
import { newId } from '../core/lib/ids.ts';
import type { Graph, GraphStep, GraphTransition } from './graph.ts';

const currentVersion = statement(
  'automations.current_version',
  'select graph_dirty as dirty, current_version_id as id from automations where id = $1',
);
const lock = statement(
  'automations.lock_graph',
  'select graph_dirty as dirty, current_version_id as id from automations where id = $1 for no key update',
);
const graphSteps = statement(
  'automations.graph_steps',
  `select id, type, name, config, template_id as "templateId" from automation_steps
   where automation_id = $1 order by created_at, id`,
);
const graphTransitions = statement(
  'automations.graph_transitions',
  `select id, from_step_id as "fromStepId", to_step_id as "toStepId", branch, wait_outcome as "waitOutcome", priority
   from automation_transitions where automation_id = $1 order by priority, created_at, id`,
);
const insert = statement(
  'automations.insert_version',
  `insert into automation_versions (id, automation_id, version, graph, hash, layout)
   select $1, $2, coalesce(max(version), 0) + 1, $3::jsonb, $4,
     (select jsonb_object_agg(s.id, s.position) from automation_steps s where s.automation_id = $2)
   from automation_versions where automation_id = $2
   on conflict (automation_id, hash) do nothing`,
);
const settle = statement(
  'automations.settle_version',
  `update automations a set graph_dirty = false, current_version_id = v.id
   from automation_versions v where a.id = $1 and v.automation_id = $1 and v.hash = $2
   returning v.id`,
);

/**
 * The version that whoever enters now is pinned to (contract page 2, 4.11). After an edit a new one is written here, in the
 * caller's transaction; a graph that was there before has its old version. Null when the automation is gone.
 */
export async function ensureVersion(sql: Sql, automationId: string): Promise<string | null> {
  const seen = await sql.row<{ dirty: boolean; id: string | null }>(currentVersion, [automationId]);
  if (seen === null) return null;
  if (!seen.dirty && seen.id !== null) return seen.id;
  // Edits change this row too, so none of them can come between reading the graph and writing it.
  const locked = await sql.row<{ dirty: boolean; id: string | null }>(lock, [automationId]);
  if (locked === null) return null;
  if (!locked.dirty && locked.id !== null) return locked.id;
  const graph = await draftGraph(sql, automationId);
  const hash = graphHash(graph);
  await sql.count(insert, [newId(), automationId, JSON.stringify(graph), hash]);
  return (await sql.row<{ id: string }>(settle, [automationId, hash]))?.id ?? null;
}

/** The graph of an automation as it would be pinned now. */
export async function draftGraph(sql: Sql, automationId: string): Promise<Graph> {
  const steps = await sql.rows<GraphStep>(graphSteps, [automationId]);
  const transitions = await sql.rows<GraphTransition>(graphTransitions, [automationId]);
  return { steps, transitions };
}

/** Two graphs that lead everybody the same way with the same steps have one hash, whatever the order of their keys. */
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

const find = statement(
  'automations.find_version',
  'select id, automation_id as "automationId", version, graph from automation_versions where id = $1',
);

const kept = new LRUCache<string, PinnedVersion>({ max: 200 });

/** A version by its id, from memory where this process has met it: versions never change. Null when it is gone. */
export async function pinnedVersion(sql: Sql, id: string): Promise<PinnedVersion | null> {
  const known = kept.get(id);
  if (known !== undefined) return known;
  const version = await sql.row<PinnedVersion>(find, [id]);
  if (version !== null) kept.set(id, version);
  return version;
}

const removeUnused = `delete from automation_versions where id in (
  select v.id from automation_versions v join automations a on a.id = v.automation_id
  where v.id is distinct from a.current_version_id
    and not exists (select from automation_runs r where r.version_id = v.id)
    and not exists (select from automation_runs r where r.next_version_id = v.id)
    and not exists (select from automation_migrations m where m.to_version_id = v.id)
    and v.created_at < now() - interval '1 hour'
  limit $1)`;

/** Removes up to `limit` versions that nobody is or was pinned to; answers how many. */
export function removeUnusedVersions(sql: Sql, limit: number): Promise<number> {
  return sql.count(removeUnused, [limit]);
}

import { countChanges, type Graph, graphOf, withIds } from '../graph/draft.ts';
import { type Conflict, merge, takeTheirs } from '../graph/merge.ts';
import type { Workflow } from '../workflow.ts';
import type { Kept } from './kept.ts';

const mostUndos = 100;

/** Somebody else has changed the automation meanwhile. */
export interface News {
  by: Workflow['editedBy'];
  at: string | null;
  /** Whether one's own changes were brought together with theirs. */
  isMerged: boolean;
  /** Whether an edit was refused because of it. */
  wasRefused: boolean;
}

/** An edit: the graph, what it was made from, and what undo and redo lead to. */
export interface EditHistory {
  base: { revision: number; graph: Graph };
  graph: Graph;
  back: Graph[];
  forth: Graph[];
  conflicts: Conflict[];
  /** The subject of the last edit: further edits of the same subject are undone together with it. */
  about: string | null;
  news: News | null;
}

/** The edit to begin with: one that this browser kept, over what the service has by now. */
export function begin(workflow: Workflow, found: Kept | null): EditHistory {
  const base = { revision: workflow.revision, graph: graphOf(workflow) };
  const state = { base, graph: base.graph, back: [], forth: [], conflicts: [], about: null, news: null };
  if (found === null) return state;
  const kept = { ...state, base: found.base, graph: found.graph };
  return found.base.revision === workflow.revision ? kept : follow(kept, workflow, false, false);
}

/** Takes the stored graph as the new base and keeps local changes on top of it. */
export function follow(before: EditHistory, workflow: Workflow, isOwn: boolean, wasRefused: boolean): EditHistory {
  if (workflow.revision === before.base.revision || workflow.revision < before.base.revision) return before;
  const theirs = graphOf(workflow);
  const hadChanges = countChanges(before.base.graph, before.graph) > 0;
  const merged = merge(before.base.graph, before.graph, theirs);
  const known = new Set(merged.graph.steps.map(({ id }) => id));
  const older = before.conflicts.filter(
    ({ stepId }) => known.has(stepId) && merged.conflicts.every((each) => each.stepId !== stepId),
  );
  return {
    base: { revision: workflow.revision, graph: theirs },
    graph: merged.graph,
    // Leading back past it would undo the work of others unseen.
    back: isOwn ? before.back : [],
    forth: isOwn ? before.forth : [],
    conflicts: [...older, ...merged.conflicts],
    about: null,
    news: isOwn ? before.news : { by: workflow.editedBy, at: workflow.editedAt, isMerged: hadChanges, wasRefused },
  };
}

/** The edit after its publication. Whoever went on editing meanwhile has those edits on top of what is published. */
export function published(
  before: EditHistory,
  sent: Graph,
  workflow: Workflow,
  ids: Record<string, string>,
): EditHistory {
  const fresh = graphOf(workflow);
  const renamed = (graph: Graph) => withIds(graph, ids);
  const graph = before.graph === sent ? fresh : merge(renamed(sent), renamed(before.graph), fresh).graph;
  return {
    base: { revision: workflow.revision, graph: fresh },
    graph,
    back: before.back.map(renamed),
    forth: before.forth.map(renamed),
    conflicts: [],
    about: null,
    news: null,
  };
}

/** Undo and redo. */
export function travel(state: EditHistory, from: 'back' | 'forth', to: 'back' | 'forth'): EditHistory {
  const target = state[from].at(-1);
  if (target === undefined) return state;
  return {
    ...state,
    graph: target,
    [from]: state[from].slice(0, -1),
    [to]: [...state[to], state.graph],
    about: null,
  };
}

/** The next graph. Edits in a row that are `about` the same are one undo. */
export function edited(before: EditHistory, change: (graph: Graph) => Graph, about: string | undefined): EditHistory {
  const next = change(before.graph);
  if (next === before.graph) return before;
  const isSame = about !== undefined && about === before.about;
  return { ...before, graph: next, back: isSame ? before.back : pushed(before), forth: [], about: about ?? null };
}

/** The graph of the service; undo brings the edit back. */
export function discarded(before: EditHistory): EditHistory {
  return { ...before, graph: before.base.graph, back: pushed(before), forth: [], conflicts: [], about: null };
}

/** One conflict resolved. */
export function decided(before: EditHistory, conflict: Conflict, choice: 'mine' | 'theirs'): EditHistory {
  return {
    ...before,
    graph: choice === 'theirs' ? takeTheirs(before.graph, conflict) : before.graph,
    conflicts: before.conflicts.filter(({ stepId }) => stepId !== conflict.stepId),
    about: null,
  };
}

function pushed({ back, graph }: EditHistory): Graph[] {
  return [...back, graph].slice(-mostUndos);
}

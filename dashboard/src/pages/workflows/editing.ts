import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { ApiError, answer, api } from '../../api/client.ts';
import type { paths } from '../../api/schema.d.ts';
import { useProjectId } from '../../app/address.ts';
import { countChanges, type Graph, graphOf, hasBrokenBody, withIds } from './graph/draft.ts';
import { type Conflict, merge, takeTheirs } from './graph/merge.ts';
import { type Kept, keep, readKept } from './kept.ts';
import type { Settings } from './settings.ts';
import { type PutGraph, putGraph, type Workflow, workflowKey, workflowQuery } from './workflow.ts';

type PatchBody = NonNullable<paths['/workflows/{id}']['patch']['requestBody']>['content']['application/json'];

/** Somebody else has changed the automation meanwhile. */
interface News {
  by: Workflow['editedBy'];
  at: string | null;
  /** Whether one's own changes were brought together with theirs. */
  isMerged: boolean;
  /** Whether an edit was refused because of it. */
  wasRefused: boolean;
}

interface State {
  base: { revision: number; graph: Graph };
  graph: Graph;
  back: Graph[];
  forth: Graph[];
  conflicts: Conflict[];
  /** What the last edit was about: further ones about the same are undone together with it. */
  about: string | null;
  news: News | null;
}

/** How a graph is edited: in this browser, until it is published. */
export interface Editing {
  graph: Graph;
  /** The revision that the edit is of. */
  revision: number;
  /** How many steps and ways differ from what the service has. */
  changes: number;
  conflicts: readonly Conflict[];
  news: News | null;
  dismissNews(): void;
  /** Changes the graph. Edits in a row that are `about` the same, such as letters typed into one step, are one undo. */
  edit(change: (graph: Graph) => Graph, about?: string): void;
  undo(): void;
  redo(): void;
  canUndo: boolean;
  canRedo: boolean;
  /** Forgets every change; undo brings them back. */
  discard(): void;
  decide(conflict: Conflict, choice: 'mine' | 'theirs'): void;
  /**
   * Replaces the graph of the service by this one, with a move of the people inside. A `rest` with `dryRun` is not for here.
   * @throws ApiError; where somebody was faster the graph then has their changes, and `news` says so
   */
  publish(migrate: PutGraph['migrate']): Promise<{ migration: { id: string } | null }>;
  /** Changes the automation itself, guarded like the graph. @throws as `publish` */
  patch(body: PatchBody): Promise<void>;
  /** Settings that were typed and not saved. */
  settings: Settings | null;
  writeSettings(settings: Settings | null): void;
  /** Whether the browser keeps the edit when the page is left. */
  isKept: boolean;
  /** Since when there is an edit that was made before this page was opened; null when there is none. */
  foundFrom: string | null;
}

const mostSteps = 100;

/** The edit of an automation: a graph of this browser over the one that the service has. */
export function useEditing(workflow: Workflow): Editing {
  const project = useProjectId();
  const queries = useQueryClient();
  const { id } = workflow;
  const [found] = useState(() => readKept(project, id));
  const [state, setState] = useState(() => begin(workflow, found));
  const [settings, setSettings] = useState<Settings | null>(found?.settings ?? null);
  const [isKept, setKept] = useState(true);
  const { base, graph, conflicts } = state;
  const changes = countChanges(base.graph, graph);
  // Edits of one's own are no news.
  const own = useRef(new Set<number>());
  // What is sent next belongs to the newest revision, also where one call follows another without a rendering between.
  const revision = useRef(base.revision);
  revision.current = Math.max(revision.current, base.revision);

  useEffect(() => {
    setState((before) => follow(before, workflow, own.current.has(workflow.revision), false));
  }, [workflow]);

  useEffect(() => {
    const isClean = changes === 0 && settings === null;
    setKept(keep(project, id, isClean ? null : { base, graph, settings, at: new Date().toISOString() }));
  }, [project, id, base, graph, settings, changes]);

  const show = (fresh: Workflow) => queries.setQueryData(workflowKey(project, id), fresh);
  const guard = async <Result>(call: () => Promise<Result>): Promise<Result> => {
    try {
      return await call();
    } catch (problem) {
      if (problem instanceof ApiError && problem.status === 412) {
        const fresh = await queries.fetchQuery({ ...workflowQuery(project, id), staleTime: 0 });
        setState((before) => follow(before, fresh, false, true));
      }
      throw problem;
    }
  };

  return {
    graph,
    revision: base.revision,
    changes,
    conflicts,
    news: state.news,
    dismissNews: () => setState((before) => ({ ...before, news: null })),
    edit: (change, about) =>
      setState((before) => {
        const next = change(before.graph);
        if (next === before.graph) return before;
        const isSame = about !== undefined && about === before.about;
        const back = isSame ? before.back : [...before.back, before.graph].slice(-mostSteps);
        return { ...before, graph: next, back, forth: [], about: about ?? null };
      }),
    undo: () => setState((before) => travel(before, 'back', 'forth')),
    redo: () => setState((before) => travel(before, 'forth', 'back')),
    canUndo: state.back.length > 0,
    canRedo: state.forth.length > 0,
    discard: () =>
      setState((before) => ({
        ...before,
        graph: before.base.graph,
        back: [...before.back, before.graph].slice(-mostSteps),
        forth: [],
        conflicts: [],
        about: null,
      })),
    decide: (conflict, choice) =>
      setState((before) => ({
        ...before,
        graph: choice === 'theirs' ? takeTheirs(before.graph, conflict) : before.graph,
        conflicts: before.conflicts.filter(({ stepId }) => stepId !== conflict.stepId),
        about: null,
      })),
    publish: (migrate) =>
      guard(async () => {
        const done = await putGraph(id, revision.current, graph, { migrate });
        if (done.dryRun) throw new Error('The service answered a dry run that nobody asked for');
        own.current.add(done.workflow.revision);
        revision.current = done.workflow.revision;
        setState((before) => published(before, graph, done.workflow, done.ids));
        show(done.workflow);
        return { migration: done.migration };
      }),
    patch: (body) =>
      guard(async () => {
        const params = { path: { id }, header: { 'If-Match': `"${revision.current}"` } };
        const call = api.PATCH('/workflows/{id}', { params, body });
        await answer(call);
        const tag = (await call).response.headers.get('etag');
        own.current.add(Number(tag?.replaceAll('"', '')));
        await queries.fetchQuery({ ...workflowQuery(project, id), staleTime: 0 });
      }),
    settings,
    writeSettings: setSettings,
    isKept,
    foundFrom: found && (changes > 0 || settings !== null) ? found.at : null,
  };
}

/** Why an edit cannot be published now, or null. */
export function blockedBy({ conflicts, graph }: Pick<Editing, 'conflicts' | 'graph'>): string | null {
  if (conflicts.length > 0) return 'Resolve the conflicting steps first.';
  return graph.steps.some(hasBrokenBody) ? 'The body of a webhook is not valid JSON.' : null;
}

function begin(workflow: Workflow, found: Kept | null): State {
  const base = { revision: workflow.revision, graph: graphOf(workflow) };
  const state = { base, graph: base.graph, back: [], forth: [], conflicts: [], about: null, news: null };
  if (found === null) return state;
  const kept = { ...state, base: found.base, graph: found.graph };
  return found.base.revision === workflow.revision ? kept : follow(kept, workflow, false, false);
}

// What the service has now becomes the base; what was changed here stays on top of it.
function follow(before: State, workflow: Workflow, isOwn: boolean, wasRefused: boolean): State {
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

// Whoever went on editing while it was being published has those edits on top of what is published.
function published(before: State, sent: Graph, workflow: Workflow, ids: Record<string, string>): State {
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

function travel(state: State, from: 'back' | 'forth', to: 'back' | 'forth'): State {
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

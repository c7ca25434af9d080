import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { ApiError, answer, api } from '../../../api/client.ts';
import type { components } from '../../../api/schema.d.ts';
import { useProjectId } from '../../../app/address.ts';
import { countChanges, type Graph, hasBrokenBody } from '../graph/draft.ts';
import type { Conflict } from '../graph/merge.ts';
import type { Settings } from '../steps/settings.ts';
import { type PutGraph, putGraph, type Workflow, workflowKey, workflowQuery } from '../workflow.ts';
import { begin, decided, discarded, edited, follow, type News, published, travel } from './edit-history.ts';
import { keep, readKept } from './kept.ts';

type PatchBody = components['schemas']['UpdateWorkflowRequest'];

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
  publish(migrate: PutGraph['migrate'], rollout?: PutGraph['rollout']): Promise<{ migration: { id: string } | null }>;
  /** Takes over what a request of this page has made of the automation. */
  adopt(fresh: Workflow): void;
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
  // The next request belongs to the newest revision, also where one call follows another without a rendering between.
  const revision = useRef(base.revision);
  revision.current = Math.max(revision.current, base.revision);

  useEffect(() => {
    setState((before) => follow(before, workflow, own.current.has(workflow.revision), false));
  }, [workflow]);

  useEffect(() => {
    const isClean = changes === 0 && settings === null;
    setKept(keep(project, id, isClean ? null : { base, graph, settings, at: new Date().toISOString() }));
  }, [project, id, base, graph, settings, changes]);

  const adopt = (fresh: Workflow) => {
    own.current.add(fresh.revision);
    queries.setQueryData(workflowKey(project, id), fresh);
  };
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
    edit: (change, about) => setState((before) => edited(before, change, about)),
    undo: () => setState((before) => travel(before, 'back', 'forth')),
    redo: () => setState((before) => travel(before, 'forth', 'back')),
    canUndo: state.back.length > 0,
    canRedo: state.forth.length > 0,
    discard: () => setState(discarded),
    decide: (conflict, choice) => setState((before) => decided(before, conflict, choice)),
    adopt,
    publish: (migrate, rollout) =>
      guard(async () => {
        const done = await putGraph(id, revision.current, graph, { migrate, rollout });
        if (done.dryRun) throw new Error('The service answered a dry run that nobody asked for');
        revision.current = done.workflow.revision;
        setState((before) => published(before, graph, done.workflow, done.ids));
        adopt(done.workflow);
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

import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useProjectId } from '../../app/address.ts';
import { fingerprint } from './graph.ts';
import { restore, type Snapshot, withNewIds } from './restore.ts';
import { type Workflow, workflowQuery } from './workflow.ts';

/** Somebody else has changed the graph since it was loaded. */
export class ChangedByOthers extends Error {
  override name = 'ChangedByOthers';
}

/** How a graph is edited, one edit after the other. */
export interface Editing {
  /**
   * Makes an edit that can be undone; answers what it answered, or undefined when it was refused. `moves` says that it only
   * changes places, which overwrites nobody's work.
   */
  edit<Result>(
    work: (workflow: Workflow) => Promise<Result>,
    options?: { moves?: boolean },
  ): Promise<Result | undefined>;
  undo(): void;
  redo(): void;
  canUndo: boolean;
  canRedo: boolean;
  isBusy: boolean;
  error: unknown;
  dismiss(): void;
}

const mostSteps = 100;

/**
 * Edits of one automation. Each is a call of the API, so what is seen is what is saved. Before each the graph is read again:
 * when somebody else has changed it, the edit is not made, and its author is told and shown the new graph. Undo and redo lead
 * the graph back to how it was by further calls; a change by others empties them, for it must not be undone unseen.
 */
export function useEditing(id: string, workflow: Workflow): Editing {
  const project = useProjectId();
  const queries = useQueryClient();
  const [history, setHistory] = useState<{ back: Snapshot[]; forth: Snapshot[] }>({ back: [], forth: [] });
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const seen = useRef(fingerprint(workflow));
  const queue = useRef<Promise<unknown>>(Promise.resolve());
  const waiting = useRef(0);

  const load = () => queries.fetchQuery({ ...workflowQuery(project, id), staleTime: 0 });

  // A look at the service in between may show what others did.
  useEffect(() => {
    const now = fingerprint(workflow);
    if (waiting.current > 0 || now === seen.current) return;
    seen.current = now;
    setHistory({ back: [], forth: [] });
    setError(new ChangedByOthers('Somebody else has just changed this workflow; what you see includes it.'));
  }, [workflow]);

  function inTurn<Result>(work: (fresh: Workflow) => Promise<Result>, moves: boolean): Promise<Result | undefined> {
    waiting.current += 1;
    setBusy(true);
    const run = async () => {
      try {
        const fresh = await load();
        if (!moves && fingerprint(fresh) !== seen.current) {
          setHistory({ back: [], forth: [] });
          throw new ChangedByOthers(
            'Somebody else has changed this workflow meanwhile, so your edit was not made. You see their version now: make the edit again if it still fits.',
          );
        }
        setError(null);
        return await work(fresh);
      } catch (problem) {
        setError(problem);
        return undefined;
      } finally {
        // Also after a refusal: some of it may have been done.
        await load().then(
          (after) => {
            seen.current = fingerprint(after);
          },
          () => undefined,
        );
        waiting.current -= 1;
        if (waiting.current === 0) setBusy(false);
      }
    };
    const turn = queue.current.then(run);
    queue.current = turn;
    return turn;
  }

  const travel = (way: 'back' | 'forth') =>
    void inTurn(async (fresh) => {
      const target = history[way].at(-1);
      if (target === undefined) return;
      const renamed = await restore(id, fresh, target);
      const here: Snapshot = { steps: fresh.steps, transitions: fresh.transitions };
      const other = way === 'back' ? 'forth' : 'back';
      setHistory((before) => {
        const left = withNewIds(before[way].slice(0, -1), renamed);
        const right = withNewIds([...before[other], here], renamed);
        return way === 'back' ? { back: left, forth: right } : { back: right, forth: left };
      });
    }, false);

  return {
    edit: (work, { moves = false } = {}) =>
      inTurn(async (fresh) => {
        const result = await work(fresh);
        const before: Snapshot = { steps: fresh.steps, transitions: fresh.transitions };
        setHistory(({ back }) => ({ back: [...back, before].slice(-mostSteps), forth: [] }));
        return result;
      }, moves),
    undo: () => travel('back'),
    redo: () => travel('forth'),
    canUndo: history.back.length > 0 && !isBusy,
    canRedo: history.forth.length > 0 && !isBusy,
    isBusy,
    error,
    dismiss: () => setError(null),
  };
}

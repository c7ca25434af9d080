import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError } from '../api/errors.ts';
import { isEqual } from './equal.ts';

/** Something as the service has it. */
interface Stored<Content> {
  content: Content;
  /** Null for what is not saved yet. */
  revision: number | null;
}

/** The header that makes a save fail where somebody else was faster; empty for what is new. */
type IfMatch = { 'If-Match'?: string };

/** Three versions of one thing: where two people began, and what each made of it. */
export interface SaveConflict<Content> {
  base: Content;
  mine: Content;
  theirs: Content;
}

interface State<Content> {
  base: Stored<Content>;
  content: Content;
  theirs: Stored<Content> | null;
  generation: number;
}

/** The initial value of a draft, and how it is saved. */
interface DraftOptions<Content, Result extends Stored<Content>> {
  stored: Stored<Content>;
  /** Fetches what the service has now. */
  read: () => Promise<Stored<Content>>;
  write: (content: Content, header: IfMatch) => Promise<Result>;
  onSaved: (result: Result) => Promise<void>;
}

/**
 * A draft of something that others may edit at the same time. Until something is written it follows what the service has; after
 * that it keeps to the revision it began with, and saving on top of a newer one ends in a conflict that has to be decided.
 */
export function useDraft<Content extends object, Result extends Stored<Content>>({
  stored,
  read,
  write,
  onSaved,
}: DraftOptions<Content, Result>) {
  const [state, setState] = useState<State<Content>>(() => begin(stored));
  const { base, content, theirs } = state;
  const hasChanges = !isEqual(content, base.content);
  if (!hasChanges && (stored.revision ?? 0) > (base.revision ?? 0)) setState(begin(stored, state.generation + 1));

  const saving = useMutation({
    mutationFn: async (sent: Stored<Content>) => {
      const header: IfMatch = sent.revision === null ? {} : { 'If-Match': `"${sent.revision}"` };
      try {
        return await write(sent.content, header);
      } catch (problem) {
        if (!(problem instanceof ApiError && problem.status === 412)) throw problem;
        const found = await read();
        setState((before) => ({ ...before, theirs: found }));
        return null;
      }
    },
    onSuccess: async (result, sent) => {
      if (result === null) return;
      // Whoever went on writing while it was saved keeps that.
      setState((before) => ({
        ...begin(result, before.generation),
        content: merged(sent.content, before.content, result.content),
      }));
      await onSaved(result);
    },
  });

  return {
    content,
    hasChanges,
    /** Another number whenever content came from elsewhere: the key of parts that keep a state of their own. */
    generation: state.generation,
    error: saving.error,
    isSaving: saving.isPending,
    conflict: theirs && { base: base.content, mine: content, theirs: theirs.content },
    change: (part: Partial<Content>) => setState((before) => ({ ...before, content: { ...before.content, ...part } })),
    save: () => saving.mutate({ content, revision: base.revision }),
    /** Saves and answers what was stored; null where somebody else was faster, which ends in a conflict. */
    saveNow: () => saving.mutateAsync({ content, revision: base.revision }),
    /** Saves one's own changes on top of theirs. */
    keepMine() {
      if (theirs === null) return;
      const own = merged(base.content, content, theirs.content);
      setState({ ...begin(theirs, state.generation + 1), content: own });
      saving.mutate({ content: own, revision: theirs.revision });
    },
    /** Drops one's own changes. */
    takeTheirs: () => theirs && setState(begin(theirs, state.generation + 1)),
    /** Goes on writing without a decision; the next save asks again. */
    decideLater: () => setState((before) => ({ ...before, theirs: null })),
  };
}

function begin<Content>(stored: Stored<Content>, generation = 0): State<Content> {
  return { base: stored, content: stored.content, theirs: null, generation };
}

// Their version with what was changed since `base` on top.
function merged<Content extends object>(base: Content, mine: Content, theirs: Content): Content {
  const changed = Object.entries(mine).filter(([key, value]) => !isEqual(value, base[key as keyof Content]));
  return { ...theirs, ...Object.fromEntries(changed) };
}

import type { Graph } from '../graph/draft.ts';
import type { Settings } from '../steps/settings.ts';

/** The part of an edit that is kept until it is published. */
export interface Kept {
  /** The revision that the edit was begun on, and the graph it had. */
  base: { revision: number; graph: Graph };
  graph: Graph;
  /** Settings that were typed and not saved. */
  settings: Settings | null;
  /** When it was last changed, in ISO 8601. */
  at: string;
}

const place = (project: string, workflow: string) => `fernpost.draft.${project}.${workflow}`;

/** The edit that this browser keeps for an automation, if any. */
export function readKept(project: string, workflow: string): Kept | null {
  try {
    const text = localStorage.getItem(place(project, workflow));
    return text === null ? null : (JSON.parse(text) as Kept);
  } catch {
    // A browser that keeps nothing, or something that is none of ours: begin anew.
    return null;
  }
}

/** Keeps an edit, or forgets it where it is null. Answers whether it is kept: a browser may refuse. */
export function keep(project: string, workflow: string, kept: Kept | null): boolean {
  try {
    if (kept === null) localStorage.removeItem(place(project, workflow));
    else localStorage.setItem(place(project, workflow), JSON.stringify(kept));
    return true;
  } catch {
    return kept === null;
  }
}

/** The selection: a step, several steps, or a path. */
export type Selection = { kind: 'step' | 'way'; id: string } | { kind: 'steps'; ids: readonly string[] } | null;

/** The ids of the steps that are selected. */
export function selectedSteps(selection: Selection): readonly string[] {
  if (selection?.kind === 'steps') return selection.ids;
  return selection?.kind === 'step' ? [selection.id] : [];
}

/** The selection of these steps. */
export function selectionOf(ids: readonly string[]): Selection {
  const [first] = ids;
  if (first === undefined) return null;
  return ids.length === 1 ? { kind: 'step', id: first } : { kind: 'steps', ids };
}

/** The selection with a step more, or without it where it is selected. */
export function toggled(selection: Selection, id: string): Selection {
  const ids = selectedSteps(selection);
  return selectionOf(ids.includes(id) ? ids.filter((each) => each !== id) : [...ids, id]);
}

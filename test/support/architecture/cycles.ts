/**
 * Rings in a graph of files, one for each import that closes one: its files in the order of the imports, from the one
 * that comes first by name. Empty exactly when the graph has no ring at all.
 */
export function cycles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const found = new Map<string, string[]>();
  const finished = new Set<string>();
  const path: string[] = [];

  function visit(file: string): void {
    const start = path.indexOf(file);
    if (start !== -1) {
      const ring = fromFirstName(path.slice(start));
      found.set(ring.join(), ring);
    }
    if (start !== -1 || finished.has(file)) return;
    path.push(file);
    for (const next of graph.get(file) ?? []) visit(next);
    path.pop();
    finished.add(file);
  }

  for (const file of [...graph.keys()].sort()) visit(file);
  return [...found.values()];
}

function fromFirstName(ring: string[]): string[] {
  const first = ring.indexOf([...ring].sort()[0] ?? '');
  return [...ring.slice(first), ...ring.slice(0, first)];
}

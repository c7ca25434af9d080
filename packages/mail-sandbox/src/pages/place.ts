/** Where in the list a message is read: the search, and the ID before which the page of the list starts (or empty). */
export interface Place {
  query: string;
  before: string;
}

/** The address of a page of the list. */
export function listAddress({ query, before }: Place): string {
  return withParameters('/', { q: query, before });
}

/** The address of a message that keeps its place in the list; parameters that are empty are left out. */
export function messageAddress(id: string, { query, before }: Place, more: Record<string, string> = {}): string {
  return withParameters(`/inbox/${id}`, { ...more, q: query, before });
}

/** A path with the parameters that are not empty. */
export function withParameters(path: string, parameters: Record<string, string>): string {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== ''));
  return query.size > 0 ? `${path}?${query}` : path;
}

import { AppError, badRequest } from './errors.ts';

/** Something that counts its edits. */
interface Revised {
  id: string;
  revision: number;
  updatedAt: Date;
}

/** The `ETag` of a revision. */
export function etagOf(revision: number): string {
  return `"${revision}"`;
}

/**
 * Refuses an edit by somebody who has seen another revision; the row must be locked. `path` is where it is read.
 * @throws 412 PRECONDITION_FAILED with the current revision and its ETag, 400 for an `If-Match` that is no list of tags
 */
export function checkSeen(kind: string, path: string, { id, revision, updatedAt }: Revised, ifMatch: string): void {
  if (hasSeen(revision, ifMatch, path)) return;
  throw stale(`This ${kind} was changed since you read it (${updatedAt.toISOString()})`, path, revision, {
    resource: kind,
    id,
    revision,
    changedAt: updatedAt.toISOString(),
  });
}

/** 412 with the current revision; `changed` says what happened, as the beginning of a sentence. */
export function stale(changed: string, path: string, revision: number, details: Record<string, unknown>): AppError {
  return new AppError(412, 'PRECONDITION_FAILED', `${changed}: nothing of your edit was made`, {
    details,
    suggestion: `Read it again with GET ${path}, bring your edit in line, and send it with the new ETag.`,
    headers: { ETag: etagOf(revision) },
  });
}

// Proxies that compress an answer make its tag weak (RFC 9110, 8.8.1). A revision means the same either way.
const tag = /^(?:W\/)?"([^"]*)"$/;

/** Whether `If-Match` allows an edit of this revision; an empty header and `*` allow any. @throws 400 when it is no list of tags */
export function hasSeen(revision: number, ifMatch: string, path: string): boolean {
  if (ifMatch === '' || ifMatch.trim() === '*') return true;
  const seen = ifMatch.split(',').map((each) => {
    const [, value] = tag.exec(each.trim()) ?? [];
    if (value === undefined) throw badRequest(`"If-Match" must be the ETag of GET ${path}, quotes included`);
    return value;
  });
  return seen.includes(String(revision));
}

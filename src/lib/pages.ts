import * as v from 'valibot';
import { type AppError, badRequest } from './errors.ts';
import { isUuid } from './ids.ts';
import { parseDate } from './time.ts';
import { field, Integer } from './validation/fields.ts';

/** The parameter `cursor` of a list: an empty one asks for the first page, as an absent one does. */
export const CursorParameter = v.optional(
  v.pipe(
    v.string(),
    v.description('`cursor` of the page before, unchanged; the first page when absent or empty.'),
    v.transform((cursor): string | undefined => cursor || undefined),
  ),
);

/** Packs the place after which the next page begins; opaque to callers. */
export function encodeCursor(place: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

/**
 * Unpacks a cursor of `size` parts.
 * @throws 400 BAD_REQUEST when the text is no cursor of this list
 */
export function decodeCursor(cursor: string, size: number): (string | number)[] {
  try {
    const place: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (
      Array.isArray(place) &&
      place.length === size &&
      place.every((part) => typeof part === 'string' || typeof part === 'number')
    )
      return place;
  } catch {
    // Answered below, like a cursor of the wrong shape.
  }
  throw foreignCursor();
}

/** Unpacks a cursor that is an id. @throws 400 for another one */
export function decodeId(cursor: string): string {
  const [id] = decodeCursor(cursor, 1);
  if (typeof id === 'string' && isUuid(id)) return id;
  throw foreignCursor();
}

/** Unpacks a cursor of an instant and an id, which is a UUID unless `isId` says otherwise. @throws 400 for another one */
export function decodeInstantAndId(cursor: string, isId: (id: string) => boolean = isUuid): [at: string, id: string] {
  const [at, id] = decodeCursor(cursor, 2);
  if (isInstant(at) && typeof id === 'string' && isId(id)) return [at, id];
  throw foreignCursor();
}

/** Makes the error for a cursor of another list. */
export function foreignCursor(): AppError {
  return badRequest('"cursor" is not a cursor of this list: pass the value of the previous page unchanged');
}

/** Cuts a page out of rows, of which one more was read than fits; its cursor is null where nothing follows. */
export function pageOf<Row>(rows: Row[], limit: number, placeOf: (last: Row) => readonly (string | number)[]) {
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  return { page, cursor: last === undefined ? null : encodeCursor(placeOf(last)) };
}

/**
 * Whether a part of a cursor is an instant, as ISO or as Postgres writes it in UTC, that there is: a cursor may have been
 * tampered with, and where JavaScript reads 31 February as 3 March, Postgres fails.
 */
export function isInstant(part: unknown): part is string {
  const [, day, time] = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.\d{1,6})?(?:Z|\+00)$/.exec(String(part)) ?? [];
  const second = `${day}T${time}`;
  return typeof part === 'string' && parseDate(`${second}Z`)?.toISOString().startsWith(second) === true;
}

/** Reads a limit as the contract does: absent, no number or below 1 is the default, above the maximum is the maximum. */
export function clampLimit(text: string | undefined, fallback: number, maximum: number): number {
  const number = Number.parseInt(text ?? '', 10);
  if (Number.isNaN(number) || number < 1) return fallback;
  return Math.min(number, maximum);
}

/** A page asked for by number (docs/contract/campaigns-and-workflows.md#0). */
export interface OffsetPage {
  page: number;
  pageSize: number;
  offset: number;
}

/** Reads `page` and `pageSize`: missing, no number or below 1 is the default, above the maximum is the maximum. */
export function offsetPage(
  query: { page?: string | undefined; pageSize?: string | undefined },
  maximum: number,
): OffsetPage {
  // An offset beyond what a bigint holds would be an error of the database, not an empty page.
  const page = clampLimit(query.page, 1, 1_000_000_000);
  const pageSize = clampLimit(query.pageSize, 20, maximum);
  return { page, pageSize, offset: (page - 1) * pageSize };
}

/** The answer of a list that pages by number. */
export function offsetAnswer<Item>(data: Item[], { page, pageSize }: OffsetPage, total: number) {
  return { data, page, pageSize, total, totalPages: Math.ceil(total / pageSize) };
}

/** The figures of a page, for the schema of a list. */
export const PageFigures = v.object({
  page: field('Number of this page, from 1.', Integer),
  pageSize: field('Maximum number of items on a page.', Integer),
  total: field('Number of items on all pages.', Integer),
  totalPages: field('Number of pages.', Integer),
});

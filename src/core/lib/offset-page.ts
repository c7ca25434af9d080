import { field } from '@fernpost/openapi/names';
import * as v from 'valibot';
import { clampLimit } from './cursor.ts';

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

/** What such an answer says of its page, for the schema of a list. */
export const PageFigures = v.object({
  page: field('Number of this page, from 1.', v.number()),
  pageSize: field('Maximum number of items on a page.', v.number()),
  total: field('Number of items on all pages.', v.number()),
  totalPages: field('Number of pages.', v.number()),
});

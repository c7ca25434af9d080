import { parameter } from './fields.ts';

// What these say of a parameter is for the API reference and for generated clients. Routes read the text themselves: a value
// that is none of the accepted ones is the default (docs/contract/core.md#4).

/** How many items a page has. */
export const limitParameter = (fallback: number, maximum: number) =>
  parameter(`Number of items on a page, 1 to ${maximum}.`, wholeNumber(fallback, maximum));

/** `page` and `pageSize` of a list that pages by number. */
export const pageParameters = (maximum: number) => ({
  page: parameter('Page number, counting from 1.', wholeNumber(1)),
  pageSize: parameter(`Number of items on a page, 1 to ${maximum}.`, wholeNumber(20, maximum)),
});

/** A whole number from 1 on. */
export const numberParameter = (description: string, fallback: number, maximum: number) =>
  parameter(description, wholeNumber(fallback, maximum));

/** One of several words. */
export const choiceParameter = (description: string, values: readonly string[], fallback?: string) =>
  parameter(description, { enum: [...values], ...(fallback === undefined ? {} : { default: fallback }) });

/** The direction of a sort. */
export const directionParameter = choiceParameter(
  'Sort order: `asc` for ascending, `desc` for descending.',
  ['asc', 'desc'],
  'desc',
);

/** One end of a window. */
export const dayParameter = (description: string) => parameter(description, { examples: ['2026-11-01'] });

function wholeNumber(fallback: number, maximum?: number) {
  return { type: 'integer', minimum: 1, ...(maximum === undefined ? {} : { maximum }), default: fallback };
}

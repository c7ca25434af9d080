import type { FieldProblem } from './problems.ts';

// What a message begins with when it goes on from the name of its field.
const predicate = /^(must|is|are|has|have|may|can|cannot|needs|fits|does) /;

/** A problem as a sentence: `"to.1" must be an email address`. */
export function sentenceOf({ field, message }: FieldProblem): string {
  const place = field === '' ? 'The request body' : `"${field}"`;
  const own = `${field.slice(field.lastIndexOf('.') + 1)} `;
  const said = message.startsWith(own) ? message.slice(own.length) : message;
  return predicate.test(said) ? `${place} ${said}` : `${place} is invalid: ${message}`;
}

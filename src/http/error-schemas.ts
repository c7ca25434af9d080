import * as v from 'valibot';
import { field, nameSchemas } from '../lib/validation/fields.ts';

const text = v.string();
const FieldProblem = v.object({
  field: field('Path of the field, such as `to.0.email`; empty for the request as a whole.', text),
  message: field('What is wrong with the field, for people.', text),
  code: field('What is wrong with the field, for programs, such as `invalid_type` or `too_big`.', text),
  received: field('JSON type of the value, such as `null`; only when another type is expected.', v.optional(text)),
});
const ErrorDetails = v.object({
  code: field('What went wrong, as a code for programs.', v.pipe(text, v.examples(['VALIDATION_ERROR']))),
  message: field('What went wrong, as a sentence for people.', text),
  statusCode: field('HTTP status of the response.', v.pipe(v.number(), v.integer())),
  requestId: field(
    'ID of the request: the `X-Request-ID` header of the response. Include it when you ask for help.',
    v.pipe(text, v.uuid()),
  ),
  details: field(
    'Facts about the error, for programs; they depend on the code.',
    v.optional(v.record(text, v.unknown())),
  ),
  errors: field('Every field that was refused.', v.optional(v.array(FieldProblem))),
  suggestion: field('What to do about the error.', v.optional(text)),
});

/** The envelope of errors (docs/contract/core.md#1-3). */
export const ErrorEnvelope = v.object({
  success: field('Always false.', v.literal(false)),
  error: field('The error.', ErrorDetails),
  timestamp: field('Time of the response.', v.pipe(text, v.isoTimestamp())),
});

const ErrorInAnyForm = v.union([text, ErrorDetails]);

/** The envelope, or `{ "error": "…" }` alone. One object, because generators for Go cannot tell two apart. */
export const AnyError = v.object({
  success: field('Always false; only in the envelope.', v.optional(v.literal(false))),
  error: field('The error, or only what went wrong as a sentence for people.', ErrorInAnyForm),
  timestamp: field('Time of the response; only in the envelope.', v.optional(ErrorEnvelope.entries.timestamp)),
});

/** Combines an error of its own form with the envelope, as one object. */
export function orEnvelope<const Entries extends v.ObjectEntries>({ entries }: v.ObjectSchema<Entries, undefined>) {
  return v.object({
    ...entries,
    error: field('Why the request was refused: a sentence, or the error of the envelope.', v.optional(ErrorInAnyForm)),
    timestamp: AnyError.entries.timestamp,
  });
}

nameSchemas({ Error: ErrorEnvelope, ErrorDetails, AnyError, FieldProblem });

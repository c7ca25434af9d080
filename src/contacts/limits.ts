import type { JsonObjectValue } from '../lib/contact-data.ts';
import { AppError } from '../lib/errors.ts';

/** Most keys of contact data in a project. */
export const mostCatalogueKeys = 5_000;
/** Most bytes of a contact's data, as JSON. */
export const mostContactBytes = 256 * 1024;

// Names of the limits as the database raises them (see migration 20261122000100, which holds the first two numbers).
const problems = {
  contact_data_bytes: 'would be larger than 256 kB together with what the contact has',
  contact_data_keys: 'would be more than 1,000 keys together with those that the contact has',
  contact_catalogue_keys: `has a key that is new, and the contacts of this project have ${mostCatalogueKeys} different keys already`,
} as const;

/** 422: the data of a contact would exceed a limit. */
export class ContactDataError extends AppError {
  /** The limit that the data exceeds, as the end of a sentence. */
  readonly problem: string;

  constructor(name: keyof typeof problems) {
    const problem = problems[name];
    super(422, 'VALIDATION_ERROR', `"data" is invalid: it ${problem}`, {
      errors: [{ field: 'data', message: `is too large: it ${problem}`, code: 'too_big' }],
      suggestion: 'Remove keys you don’t need: send them with the value null, or clear the data with "data": null.',
    });
    this.problem = problem;
  }
}

/** The error for a limit by its name in the database, or null for any other text. */
export function contactDataError(name: unknown): ContactDataError | null {
  return typeof name === 'string' && Object.hasOwn(problems, name)
    ? new ContactDataError(name as keyof typeof problems)
    : null;
}

/** Waits for a statement that writes contacts. @throws ContactDataError where the database refuses their data */
export async function withinDataLimits<T>(write: Promise<T>): Promise<T> {
  try {
    return await write;
  } catch (error) {
    throw contactDataError((error as { constraint?: unknown }).constraint) ?? error;
  }
}

/**
 * Data to store as JSON text; what is too large whatever the contact has is not sent to the database.
 * @throws ContactDataError
 */
export function contactDataText(data: JsonObjectValue): string {
  const text = JSON.stringify(data);
  if (text.length > mostContactBytes) throw new ContactDataError('contact_data_bytes');
  return text;
}

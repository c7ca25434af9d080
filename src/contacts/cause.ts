import type { Author } from '../store/sql.ts';

/** What can change a contact; `unknown` stands where a program other than the service did. */
export const causeTypes = [
  'contact',
  'field',
  'segment',
  'track',
  'send',
  'smtp',
  'inbound',
  'report',
  'page',
  'step',
  'import',
  'bulk',
  'undo',
  'unknown',
] as const;
export type CauseType = (typeof causeTypes)[number];

/** Why a contact was changed, as its history keeps it. */
export interface Cause {
  type: CauseType;
  /** Of the job, of the workflow whose step it was, of the segment it was added to, or of the mail that led to it. */
  id?: string;
  /** Who asked for it, where somebody did. */
  by?: Pick<Author, 'kind' | 'id'>;
}

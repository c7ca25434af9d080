import { field } from '@fernpost/openapi/names';
import * as v from 'valibot';
import { iconsUrlOf } from '../../content/templates/index.ts';
import type { Database } from '../../core/database/sql.ts';
import type { App } from '../../core/http/context.ts';

/**
 * A malformed id of a campaign is a 422 (docs/contract/campaigns-and-workflows.md#0), not the 404 that other resources answer.
 */
export const ids = { id: '422' } as const;

/** What the services of campaigns work with. */
export const depsOf = ({ app, db }: { app: App; db: Database }) => ({
  db,
  outbox: app.outbox,
  senderDomains: app.directory.senderDomains,
  iconsUrl: iconsUrlOf(app.config),
  clock: app.clock,
  provider: app.mailer.name,
  billing: app.config,
  tell: app.tellMembers,
});

/** The envelope of the answers about one campaign. */
export const ok = <Data>(data: Data) => ({ success: true, data });

/** The schema of the envelope, with what `data` is. */
export const wrapped = <Schema extends v.GenericSchema>(text: string, data: Schema) =>
  v.object({
    success: field('Always `true`. A failed request returns an `Error` instead.', v.literal(true)),
    data: field(text, data),
  });
/** The schema of an envelope that says what was done. */
export const withMessage = <Schema extends v.GenericSchema>(text: string, data: Schema) =>
  v.object({ ...wrapped(text, data).entries, message: field('What was done, as a sentence for people.', v.string()) });

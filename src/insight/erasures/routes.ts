import { reply, route } from '../../http/route.ts';
import { recordChange } from '../../projects/audit/record.ts';
import { exportContact } from './export.ts';
import {
  ContactExport,
  EraseContact,
  ErasureBody,
  ErasurePage,
  ErasureVerification,
  LiftSuppression,
  ListErasures,
} from './schema.ts';
import { getErasure, liftSuppression, listErasures, requestErasure, verifyErasure } from './service.ts';

const shared = { access: 'dashboard', tag: 'privacy' } as const;

/** Everything known of a contact, and its erasure with a certificate. */
export const erasureRoutes = [
  route.get('/contacts/:id/export', {
    heavy: true,
    ...shared,
    refusals: [429],
    scope: 'contacts:read',
    summary: 'Export everything known about a contact',
    operationId: 'exportContact',
    description:
      'A JSON file: the contact, its history, events, mail with what is stored of its bodies, segments, executions of workflows, and the imports and bulk changes that touched it. Articles 15 and 20 of the GDPR ask for it. 10 a minute for each project.',
    ids: { id: 'contact' },
    returns: 'The file with everything known about the contact, as an attachment.',
    reply: ContactExport,
    async handle({ db, project, params }) {
      const file = await exportContact(db, project.id, params.id);
      await db.transaction((tx) => recordChange(tx, project.id, { action: 'contact.exported', target: params.id }));
      return reply(200, file, {
        'Content-Type': 'application/json; charset=utf-8',
        'Content-Disposition': `attachment; filename="contact-${params.id}.json"`,
      });
    },
  }),
  route.post('/contacts/:id/erase', {
    ...shared,
    role: 'ADMIN',
    scope: 'contacts:erase',
    summary: 'Erase a contact',
    operationId: 'eraseContact',
    description:
      'Deletes the contact and empties everything that is stored of it, for good, in the background. Counts in campaigns stay. Asking again returns the same erasure and notes another `reference` in the audit log; follow it with `GET /erasures/{id}`, which has the signed certificate in the end.',
    status: 202,
    ids: { id: 'contact' },
    body: EraseContact,
    example: { reference: 'DSR-2026-041', keepSuppressed: true },
    returns: 'The erasure, which runs in the background; poll `GET /erasures/{id}` until its `status` is `DONE`.',
    reply: ErasureBody,
    async handle({ app, db, project, params, body }) {
      const { erasure, ticket } = await requestErasure(db, project.id, params.id, body, app.config.encryptionKeys);
      // The answer says that requests refuse the address: on every process.
      await app.directory.forgetEverywhere(project.id);
      if (ticket !== null) app.outbox.dispatchSoon(ticket);
      return reply(202, erasure, { Location: `/erasures/${erasure.id}` });
    },
  }),
  route.get('/erasures', {
    ...shared,
    scope: 'contacts:read',
    summary: 'List erasures',
    query: ListErasures,
    returns: 'The page of erasures, newest first.',
    reply: ErasurePage,
    handle: ({ db, project, query }) => listErasures(db, project.id, query),
  }),
  route.get('/erasures/:id', {
    ...shared,
    scope: 'contacts:read',
    summary: 'Get an erasure with its certificate',
    ids: { id: 'erasure' },
    returns: 'The erasure with its `status` and steps; `certificate` is null until nothing is left here.',
    reply: ErasureBody,
    handle: ({ db, project, params }) => getErasure(db, project.id, params.id),
  }),
  route.post('/erasures/:id/lift', {
    ...shared,
    role: 'OWNER',
    refusesKeys: true,
    summary: 'Lift the suppression of an erased address',
    operationId: 'liftErasureSuppression',
    description:
      'Requests may store the address again, as a new contact, and send to it; imports go on refusing it. For the owner of the project, after the owner of the address has asked for email. Safe to repeat, and written to the audit log.',
    ids: { id: 'erasure' },
    body: LiftSuppression,
    example: { reason: 'Asked for the newsletter again on 2026-11-20' },
    returns: 'The erasure with `suppressed` false: requests may store the address again.',
    reply: ErasureBody,
    handle: ({ db, project, params, body }) => liftSuppression(db, project.id, params.id, body),
  }),
  route.get('/erasures/:id/verify', {
    heavy: true,
    ...shared,
    scope: 'contacts:read',
    summary: 'Verify a certificate',
    operationId: 'verifyErasure',
    description:
      'Whether the signature is genuine, and whether anything is left of the contact now. Anyone who has the certificate can verify the signature without the service.',
    ids: { id: 'erasure' },
    returns: 'Whether the certificate is `valid`, and in `left` what is still stored of the contact.',
    reply: ErasureVerification,
    handle: ({ app, db, project, params }) => verifyErasure(db, project.id, params.id, app.config.encryptionKeys),
  }),
];

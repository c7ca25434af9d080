import * as v from 'valibot';
import { route } from '../../http/route.ts';
import { listClients, SmtpClientBody } from './clients.ts';

/** Routes for the last activity of programs that send by SMTP. */
export const smtpRoutes = [
  route.get('/projects/:id/smtp-clients', {
    access: 'project',
    tag: 'emails',
    summary: 'List programs that send by SMTP',
    operationId: 'listSmtpClients',
    description: 'The last 50 of 30 days, by key and address: when each was last seen, and why it was last refused.',
    returns: 'The programs, most recently seen first; up to 50.',
    reply: v.array(SmtpClientBody),
    handle: ({ db, project }) => listClients(db, project.id),
  }),
];

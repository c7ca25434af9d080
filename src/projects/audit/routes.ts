import { csvReply, route } from '../../http/route.ts';
import { AuditPage, AuditVerification, auditCsv, ListAudit, listAudit, verifyAudit } from './queries.ts';
import { recordChange } from './record.ts';

const shared = { access: 'project', role: 'ADMIN', tag: 'audit log', scope: 'audit' } as const;

/** Who changed what in a project (docs/contract/reach.md#3-audit). */
export const auditRoutes = [
  route.get('/projects/:id/audit-log', {
    heavy: true,
    ...shared,
    summary: 'List changes',
    description: 'The latest first, kept for 400 days; as a CSV file with `format=csv`, the latest 10,000.',
    query: ListAudit,
    returns: 'The page of entries, newest first; with `format=csv`, the file.',
    reply: AuditPage,
    textReply: 'text/csv',
    async handle({ db, project, query }) {
      if (query.format !== 'csv') return listAudit(db, project.id, query);
      const file = await auditCsv(db, project.id, query);
      await db.transaction((tx) => recordChange(tx, project.id, { action: 'audit_log.exported', target: project.id }));
      return csvReply(file, 'audit-log.csv');
    },
  }),
  route.get('/projects/:id/audit-log/verify', {
    heavy: true,
    ...shared,
    summary: 'Verify the integrity of the audit log',
    description: 'Each entry carries the hash of the one before it: a changed or missing entry is detected.',
    returns: 'Whether the log is `valid`, and the first entry that was changed if it is not.',
    reply: AuditVerification,
    handle: ({ db, project }) => verifyAudit(db, project.id),
  }),
];

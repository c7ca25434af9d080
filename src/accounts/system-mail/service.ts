import { type StartCommand, workflowId } from '../../../temporal/commands.ts';
import type { Config } from '../../lib/config/config.ts';
import { newId } from '../../lib/ids.ts';
import { seal } from '../../lib/seal.ts';
import { type LetterRequest, writeLetter } from '../../lib/texts/letter.ts';
import { enqueueAll, type OutboxTicket } from '../../store/outbox/queries.ts';
import type { Database } from '../../store/sql.ts';
import { insertMails, type MailedMembers, membersToTell } from './queries.ts';

declare module '../../http/context.ts' {
  interface App {
    /** Sends mail of the service to the members of a project. */
    tellMembers: TellMembers;
  }
}

/** One mail of the service: what it says, and to whom. */
export interface SystemMailRequest extends LetterRequest {
  to: string;
  /** Two mails with the same key are one, for as long as the first is remembered (60 days). */
  dedupeKey?: string;
}

export type SystemMailSettings = Pick<Config, 'APP_ENCRYPTION_KEY' | 'SYSTEM_FROM_NAME'>;

/**
 * Queues mails of the service in the caller's transaction; give the tickets to `Outbox.dispatchSoon` after the
 * commit. No ledger row, event or usage comes of them, and a failing one never fails what caused it.
 */
export async function queueSystemMails(
  tx: Database,
  settings: SystemMailSettings,
  mails: readonly SystemMailRequest[],
): Promise<OutboxTicket[]> {
  const rows = mails.map((mail) => ({
    id: newId(),
    kind: mail.kind,
    to_address: mail.to,
    dedupe_key: mail.dedupeKey ?? null,
    content_sealed: seal(JSON.stringify(writeLetter(mail, settings.SYSTEM_FROM_NAME)), settings.APP_ENCRYPTION_KEY),
  }));
  const added = await insertMails(tx, rows);
  return enqueueAll(tx, added.map(startOfMail));
}

interface MemberMail {
  projectId: string;
  values?: Readonly<Record<string, string>>;
  /** Each member gets one mail for each key. */
  dedupeKey?: string;
  /** Members of at least this role, but for one user; everybody when absent. */
  to?: MailedMembers;
}

/** Queues a mail of the service to each member of a project, inside a transaction. */
export type TellMembers = (
  tx: Database,
  mail: MemberMail & {
    kind:
      | 'domain-verified'
      | 'domain-lost'
      | 'usage-warning'
      | 'usage-reached'
      | 'payment-failed'
      | 'webhook-disabled'
      | 'campaign-stopped'
      | 'rollout-stopped'
      | 'approval-requested';
    /** Where its button leads, below the dashboard. */
    path: string;
  },
) => Promise<OutboxTicket[]>;

/** Queues a mail to each member of a project; the texts name it as `{project}` and are in its language. */
export async function queueMemberMails(
  tx: Database,
  settings: SystemMailSettings,
  mail: MemberMail & { kind: LetterRequest['kind']; link: string },
): Promise<OutboxTicket[]> {
  const members = await membersToTell(tx, mail.projectId, mail.to);
  return queueSystemMails(
    tx,
    settings,
    members.map(({ email, project, language }) => ({
      kind: mail.kind,
      to: email,
      language,
      link: mail.link,
      values: { project, ...mail.values },
      ...(mail.dedupeKey === undefined ? {} : { dedupeKey: `${mail.dedupeKey}:${email}` }),
    })),
  );
}

/** The command that starts the execution of a mail. */
export function startOfMail(id: string): StartCommand {
  return {
    type: 'start',
    workflow: 'systemMail',
    id: workflowId.systemMail(id),
    input: { mailId: id },
    searchAttributes: { Kind: 'system-mail' },
  };
}

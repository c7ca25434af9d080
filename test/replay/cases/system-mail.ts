import { newId } from '../../../src/lib/ids.ts';
import { workflowId } from '../../../temporal/commands.ts';
import { failed, type ReplayCase, type Script } from './case.ts';

const later = { state: 'later', waitMs: 20 } as const;

/** Ways through `systemMail`. */
export const systemMailCases: readonly ReplayCase[] = [
  mail('sent', { sendSystemMail: [{ state: 'sent' }] }),
  mail('put-off-twice', { sendSystemMail: [later, failed, later, { state: 'sent' }] }),
  mail('given-up', { sendSystemMail: [later, { state: 'failed' }] }),
];

function mail(name: string, answers: Script): ReplayCase {
  const mailId = newId();
  return {
    name: `systemMail-${name}`,
    launch: {
      workflow: 'systemMail',
      id: workflowId.systemMail(mailId),
      input: { mailId },
      searchAttributes: { Kind: 'system-mail' },
    },
    answers,
    ends: 'COMPLETED',
  };
}

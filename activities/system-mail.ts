import { type SystemMailDeps, type SystemMailReport, sendSystemMail } from '../src/sending/system-mail/index.ts';

/** The activities of the service's own mail, as workflows call them. */
export type SystemMailActivities = ReturnType<typeof systemMailActivities>;

/** Builds the activities of the service's own mail. */
export function systemMailActivities(deps: SystemMailDeps) {
  return {
    /** Hands a mail of the service over (see `src/sending/system-mail/sending.ts`). Safe to repeat. */
    sendSystemMail: (mailId: string): Promise<SystemMailReport> => sendSystemMail(deps, mailId),
  };
}

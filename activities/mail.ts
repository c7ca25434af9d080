import { activityInfo, cancellationSignal, heartbeat } from '@temporalio/activity';
import type { Pace } from '../src/mail/engine/run.ts';
import { type DeliveryReport, deliverPending } from '../src/mail/queue/deliver.ts';
import type { QueueDeps } from '../src/mail/queue/queue-claim.ts';
import { type SystemMailDeps, type SystemMailReport, sendSystemMail } from '../src/mail/system-mail.ts';

/** Sends a heartbeat every `everyMs` while the work runs, with what it noted last. */
export async function alive<T>(everyMs: number, work: (note: (details: unknown) => void) => Promise<T>): Promise<T> {
  let last: unknown = null;
  const timer = setInterval(() => heartbeat(last), everyMs);
  try {
    return await work((details) => {
      last = details;
    });
  } finally {
    clearInterval(timer);
  }
}

interface EmailActivityDeps extends QueueDeps {
  /** Aborts when the process begins to stop. */
  stopping: AbortSignal;
  pace?: Pace;
}

/** The activities of mail delivery, as workflows call them. */
export type EmailActivities = ReturnType<typeof emailActivities>;

const heartbeatMs = 2000;

/** Builds the activities of mail delivery. */
export function emailActivities(deps: EmailActivityDeps) {
  return {
    /**
     * Hands over the project's mail until none is due (see `src/mail/queue/deliver.ts`). Safe to repeat: claims begin with
     * the ids of this run and activity, and a retry settles those of earlier attempts before it claims anything.
     */
    deliverPending(projectId: string): Promise<DeliveryReport> {
      const { workflowExecution, activityId, attempt } = activityInfo();
      const prefix = `${workflowExecution?.runId ?? ''}/${activityId}/`;
      const stop = AbortSignal.any([deps.stopping, cancellationSignal()]);
      return alive(heartbeatMs, () => deliverPending(deps, { projectId, prefix, attempt, stop }, deps.pace));
    },
  };
}

/** The activities of the service's own mail, as workflows call them. */
export type SystemMailActivities = ReturnType<typeof systemMailActivities>;

/** Builds the activities of the service's own mail. */
export function systemMailActivities(deps: SystemMailDeps) {
  return {
    /** Hands a mail of the service over (see `src/mail/system-mail.ts`). Safe to repeat. */
    sendSystemMail: (mailId: string): Promise<SystemMailReport> => sendSystemMail(deps, mailId),
  };
}

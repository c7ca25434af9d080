import type { Mailer } from '../../domains/providers/mailer.ts';
import type { SnsClient } from '../../domains/providers/ses/sns.ts';

// What other parts of the service may use of providers; everything else in this folder is its own.

export { removeOldHandovers } from './journal.ts';

declare module '../../http/context.ts' {
  interface App {
    mailer: Mailer;
    /** Amazon's own hosts, for what proves that a message is of Amazon SNS. */
    sns: SnsClient;
  }
}

/** Stands where a project's id does in mail of the service itself, which is no project's. */
export const systemProjectId = '00000000-0000-0000-0000-000000000000';

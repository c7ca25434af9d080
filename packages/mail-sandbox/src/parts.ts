import type { ByteBudget } from './body.ts';
import type { Domains } from './domains.ts';
import type { Faults } from './faults.ts';
import type { Service } from './follow.ts';
import type { Outages } from './magic.ts';
import type { Outcomes } from './outcomes.ts';
import type { MessageStore } from './store.ts';
import type { Webhooks } from './webhooks.ts';

/** What the routes of the sandbox work with. */
export interface Parts {
  store: MessageStore;
  domains: Domains;
  faults: Faults;
  outages: Outages;
  outcomes: Outcomes;
  webhooks: Webhooks | null;
  budget: ByteBudget;
  service: Service;
  /** Calls of the sending paths since the process started. */
  calls: { count: number };
  /** Aborted when the sandbox closes. */
  closing: AbortSignal;
}

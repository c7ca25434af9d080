import type { Faults } from '../behavior/faults.ts';
import type { Service } from '../behavior/follow.ts';
import type { Outages } from '../behavior/magic.ts';
import type { Outcomes } from '../behavior/outcomes.ts';
import type { Webhooks } from '../behavior/webhooks.ts';
import type { Domains } from '../domains.ts';
import type { MessageStore } from '../store/store.ts';
import type { ByteBudget } from './body.ts';

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

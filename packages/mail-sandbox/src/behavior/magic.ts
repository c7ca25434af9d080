import type { EventType } from '../schema.ts';

/** One thing that will happen to a message; `after` counts in units of the sandbox's delay. */
interface Step {
  type: EventType;
  after: 1 | 2 | 3;
}

/** What an address does to the message, or to the whole call, that names it. */
export interface Treatment {
  steps: readonly Step[];
  refusal?: 300 | 406;
  outage?: 429 | 500 | 503;
  held?: boolean;
}

const delivery: Step = { type: 'delivery', after: 1 };
const delivered: Treatment = { steps: [delivery] };
const hardBounce: Treatment = { steps: [{ type: 'hardBounce', after: 1 }] };
const complaint: Treatment = { steps: [delivery, { type: 'complaint', after: 2 }] };
const inactive: Treatment = { steps: [], refusal: 406 };

const treatments: ReadonlyMap<string, Treatment> = new Map<string, Treatment>([
  ['hardbounce', hardBounce],
  ['bounce', hardBounce],
  ['softbounce', { steps: [{ type: 'softBounce', after: 1 }] }],
  ['complaint', complaint],
  ['spamcomplaint', complaint],
  ['open', { steps: [delivery, { type: 'open', after: 2 }] }],
  ['click', { steps: [delivery, { type: 'open', after: 2 }, { type: 'click', after: 3 }] }],
  ['unsubscribe', { steps: [delivery, { type: 'unsubscribe', after: 2 }] }],
  ['ooto', { steps: [delivery, { type: 'autoResponder', after: 2 }] }],
  ['inactive', inactive],
  ['suppressionlist', inactive],
  ['invalid', { steps: [], refusal: 300 }],
  ['ratelimit', { steps: [delivery], outage: 429 }],
  ['error503', { steps: [delivery], outage: 503 }],
  ['error500', { steps: [delivery], outage: 500 }],
  ['timeout', { steps: [delivery], held: true }],
]);

/**
 * docs/contract/platform.md#10-7: what the local part of an address before any `+` decides, whatever the domain and the
 * letter case. Any other address is delivered.
 */
export function treatmentOf(email: string): Treatment {
  const local = email.slice(0, email.lastIndexOf('@'));
  const plus = local.indexOf('+');
  return treatments.get((plus < 0 ? local : local.slice(0, plus)).toLowerCase()) ?? delivered;
}

const failuresPerAddress = 2;
const addressesRemembered = 10_000;

/** Counts how often addresses such as `ratelimit@…` have failed a call; beyond 10,000 addresses the oldest are forgotten. */
export class Outages {
  private readonly failures = new Map<string, number>();

  /** The status with which a call to these recipients fails, or null once each address has failed it twice. */
  next(recipients: Iterable<string>): 429 | 500 | 503 | null {
    const { failures } = this;
    let status: 429 | 500 | 503 | null = null;
    for (const email of new Set(recipients)) {
      const { outage } = treatmentOf(email);
      const before = failures.get(email) ?? 0;
      if (!outage || before >= failuresPerAddress) continue;
      failures.set(email, before + 1);
      status ??= outage;
    }
    for (const email of failures.keys()) {
      if (failures.size <= addressesRemembered) break;
      failures.delete(email);
    }
    return status;
  }

  reset(): void {
    this.failures.clear();
  }
}

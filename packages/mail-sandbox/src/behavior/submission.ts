import { randomUUID } from 'node:crypto';
import type { SubmittedMessage } from '../schema.ts';
import type { MessageStore } from '../store/store.ts';
import { checkMessage, type Refusal } from './check.ts';
import type { Outages } from './magic.ts';
import { treatmentOf } from './magic.ts';
import type { Outcomes } from './outcomes.ts';

/** Postmark's answer to one accepted message. */
interface Acceptance {
  To: string;
  Cc?: string;
  Bcc?: string;
  SubmittedAt: string;
  MessageID: string;
  ErrorCode: 0;
  Message: string;
}

/** How a call ends: it fails as a whole, or there is one result for each message, in order. */
export type Submission =
  | { outage: 429 | 500 | 503 }
  | { outage: null; results: (Acceptance | Refusal)[]; held: boolean };

/** What a submission needs. */
export interface SubmissionParts {
  store: MessageStore;
  outages: Outages;
  outcomes: Outcomes;
}

/**
 * Takes the messages of one call: checks each, stores those that pass (before it returns), and plans what will happen
 * to them. With `test` nothing is stored and no call fails on purpose. `held` says that a `timeout@…` was among them.
 */
export function submit(parts: SubmissionParts, messages: readonly SubmittedMessage[], test: boolean): Submission {
  const checked = messages.map((message) => checkMessage(message));
  const passed = checked.flatMap((check) => ('ErrorCode' in check ? [] : check.recipients));
  const outage = test ? null : parts.outages.next(passed);
  if (outage) return { outage };

  const at = Date.now();
  const accepted = messages.filter((_, i) => !('ErrorCode' in (checked[i] as object)));
  const entries = test || accepted.length === 0 ? [] : parts.store.add(accepted, at);
  parts.outcomes.schedule(entries);

  const submittedAt = new Date(at).toISOString();
  let stored = 0;
  const results = messages.map((message, i): Acceptance | Refusal => {
    const check = checked[i];
    if (!check || 'ErrorCode' in check) return check ?? { ErrorCode: 300, Message: 'Invalid message.' };
    const id = test ? randomUUID() : (entries[stored]?.id ?? '');
    stored += 1;
    return acceptance(message, id, submittedAt, test ? 'Test job accepted' : messageOf(check.inactive));
  });
  return { outage: null, results, held: !test && passed.some((email) => treatmentOf(email).held) };
}

function acceptance(message: SubmittedMessage, id: string, submittedAt: string, text: string): Acceptance {
  return {
    To: message.To ?? '',
    ...(message.Cc ? { Cc: message.Cc } : {}),
    ...(message.Bcc ? { Bcc: message.Bcc } : {}),
    SubmittedAt: submittedAt,
    MessageID: id,
    ErrorCode: 0,
    Message: text,
  };
}

function messageOf(inactive: readonly string[]): string {
  if (inactive.length === 0) return 'OK';
  return `Message OK, but will not deliver to these inactive addresses: ${inactive.join(', ')}.`;
}

import type { WaitOutcome } from '@fernpost/workflow-graph';
import type { Addable } from '../graph.ts';

type Inline = { type: 'text'; text: string } | { type: 'variable'; attrs: { name: string; fallback: string } };
/** A block of an email, as far as starters use them. */
type Block =
  | { type: 'paragraph'; attrs: { align: 'left' }; content: Inline[] }
  | { type: 'button'; attrs: { label: string; href: string; align: 'left' } };

/** An email of a starter, which becomes a template of the project. */
export interface StarterEmail {
  name: string;
  subject: string;
  document: { version: 1; preheader: string; content: Block[] };
}

/** A step of a starter. `email` names the one of its emails that the step sends. */
export interface StarterStep {
  id: string;
  type: Addable;
  name: string;
  config: Record<string, unknown>;
  email?: string;
  note?: string;
}

/** A path of a starter; `trigger` is the step where contacts enter. */
export interface StarterPath {
  from: string;
  to: string;
  branch?: string;
  waitOutcome?: WaitOutcome;
}

/** A small workflow to begin with. */
export interface Starter {
  id: string;
  name: string;
  /** When to use it, and what it does. */
  about: string;
  /** The event that is proposed to start it. */
  eventName: string;
  emails: Readonly<Record<string, StarterEmail>>;
  steps: readonly StarterStep[];
  paths: readonly StarterPath[];
}

const days = (amount: number) => ({ amount, unit: 'days' });
const secondsOf = (amount: number) => amount * 86_400;

/** The blocks of the emails. A button leads nowhere until somebody fills in its link, which Checks ask for. */
export const paragraph = (text: string): Block => ({
  type: 'paragraph',
  attrs: { align: 'left' },
  content: [{ type: 'text', text }],
});
const greeting: Block = {
  type: 'paragraph',
  attrs: { align: 'left' },
  content: [
    { type: 'text', text: 'Hi ' },
    { type: 'variable', attrs: { name: 'firstName', fallback: 'there' } },
    { type: 'text', text: ',' },
  ],
};
export const button = (label: string): Block => ({ type: 'button', attrs: { label, href: '', align: 'left' } });

/** An email that greets the contact by its first name. */
export function email(name: string, subject: string, preheader: string, ...content: Block[]): StarterEmail {
  return { name, subject, document: { version: 1, preheader, content: [greeting, ...content] } };
}

/** The steps of starters. */
export const send = (id: string, name: string, note?: string): StarterStep => ({
  id,
  type: 'SEND_EMAIL',
  name,
  config: {},
  email: id,
  ...(note ? { note } : {}),
});
export const delay = (id: string, name: string, amount: number, note?: string): StarterStep => ({
  id,
  type: 'DELAY',
  name,
  config: days(amount),
  ...(note ? { note } : {}),
});
export const wait = (id: string, name: string, eventName: string, atMost: number, note: string): StarterStep => ({
  id,
  type: 'WAIT_FOR_EVENT',
  name,
  config: { eventName, timeout: secondsOf(atMost) },
  note,
});
export const exit = (id: string, name: string, reason: string): StarterStep => ({
  id,
  type: 'EXIT',
  name,
  config: { reason },
});
/** The paths of starters. */
export const path = (from: string, to: string): StarterPath => ({ from, to });
export const onEvent = (from: string, to: string): StarterPath => ({ from, to, waitOutcome: 'EVENT' });
export const onTimeout = (from: string, to: string): StarterPath => ({ from, to, waitOutcome: 'TIMEOUT' });
export const onBranch = (branch: string, from: string, to: string): StarterPath => ({ from, to, branch });

/** The note at a step that waits for an event of the project’s own app. */
export const ownEvent = (when: string) => `Your app tracks this event ${when}. Replace it if yours has another name.`;

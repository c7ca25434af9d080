import { randomUUID } from 'node:crypto';
import type { OutgoingMessage, Verdict } from '../../../src/domains/providers/mailer.ts';

/** A message whose texts are strings. */
export type PlainMessage = OutgoingMessage & { html: string; text: string | null };

/** A message with its texts put together. */
export function textsOf(message: OutgoingMessage): PlainMessage {
  return { ...message, html: String(message.html), text: message.text === null ? null : String(message.text) };
}

/** A message as the composer makes one. */
export function aMessage(changes: Partial<OutgoingMessage> = {}): OutgoingMessage {
  const emailId = randomUUID();
  return {
    emailId,
    projectId: randomUUID(),
    from: { address: 'hello@birdwatch.test', name: 'Birdwatch' },
    to: { address: `reader-${emailId.slice(-12)}@example.com`, name: null },
    replyTo: null,
    subject: 'A heron',
    html: '<p>Look up.</p>',
    text: 'Look up.',
    headers: [],
    attachments: [],
    tag: 'TRANSACTIONAL',
    stream: 'transactional',
    tracking: true,
    ...changes,
  };
}

/** The kinds of verdicts, in order. */
export const kinds = (verdicts: readonly Verdict[]): string[] => verdicts.map(({ kind }) => kind);

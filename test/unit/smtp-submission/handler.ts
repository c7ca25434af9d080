import type { MessageMemory } from '../../../src/mail/smtp/message.ts';
import type { Submission, SubmissionEvent, SubmissionHandler } from '../../../src/mail/smtp/server.ts';
import { SmtpReply } from '../../../src/mail/smtp/waiting-room.ts';

/** Memory of so many bytes for one message. */
export function memoryOf(total: number): MessageMemory & { isReleased: boolean } {
  return {
    isReleased: false,
    growTo: (bytes) => bytes <= total,
    release() {
      this.isReleased = true;
    },
  };
}

/** A handler that knows one person, and keeps what it gets. */
export interface TestHandler extends SubmissionHandler<string> {
  taken: (Submission & { owner: string })[];
  events: SubmissionEvent<string>[];
  /** Passwords by user name; may change while connections are open. */
  passwords: Record<string, string>;
}

/** Takes mail of `ada`, whose password is `secret`, to addresses below example.com. */
export function testHandler(): TestHandler {
  const handler: TestHandler = {
    taken: [],
    events: [],
    passwords: { ada: 'secret' },
    signIn: async (credentials) => {
      const owner = await handler.ownerOf(credentials);
      if (owner === null) throw new SmtpReply(535, '5.7.8', 'Wrong password');
      return owner;
    },
    ownerOf: ({ username, password }) => Promise.resolve(handler.passwords[username] === password ? username : null),
    accountOf: (owner) => owner,
    addressOf: (recipient) => (/^[ -~]+@example\.com$/.test(recipient) ? recipient.toLowerCase() : null),
    memoryFor: () => Promise.resolve(memoryOf(1024 * 1024)),
    accept: (owner, submission) => {
      handler.taken.push({ owner, ...submission });
      return Promise.resolve(`message-${handler.taken.length}`);
    },
    replyTo: (error) => (error instanceof SmtpReply ? error : new SmtpReply(451, '4.3.0', 'Try again later')),
    onEvent: (event) => handler.events.push(event),
    onBroken: () => undefined,
  };
  return handler;
}

import { hash } from 'node:crypto';
import { campaignRefusal, type RecipientFacts } from '../../campaigns/delivery/content.ts';
import type { ClaimedRecipient } from '../../campaigns/delivery/ledger.ts';
import { suppressedText } from '../../contacts/suppressions/matching.ts';
import type { Mailer, OutgoingMessage } from '../../domains/providers/mailer.ts';
import type { ComposeNotes } from '../../mail/engine/compose.ts';
import type { Delivery, KeptTexts, Outcome } from '../../mail/engine/port.ts';
import type { MailRecipient, Suppressing } from '../../mail/engine/suppression.ts';
import { type Reason, reasonText } from '../../mail/ledger/reasons.ts';
import { findingOf, type MessageFinding, type ProblemKind } from './findings.ts';

/** The outcome for one recipient: the message that would be sent, or why none would. */
export interface ReviewedRecipient {
  contactId: string;
  finding: MessageFinding | null;
  /** A sentence; null for whoever would get the message. */
  leftOut: string | null;
  missing: ReadonlySet<string>;
  problems: ReadonlySet<ProblemKind>;
}

/** Renders the message of one recipient, and notes how that went. */
export type ComposeNoted = (recipient: ClaimedRecipient, notes: ComposeNotes) => OutgoingMessage;

/** The parts of a round of a dry run. `most`: messages to render; contacts beyond are only decided about. */
export interface DryRoundInput {
  /** The ID of the dry run. */
  id: string;
  projectId: string;
  /** What keeps mail back; null where nothing can. */
  suppressing: Suppressing | null;
  facts: RecipientFacts;
  compose: ComposeNoted;
  recipients: readonly ClaimedRecipient[];
  most: number;
}

/** Some recipients of a dry run, as the engine sees them: its outcomes are kept here and written nowhere. */
export class DryRound implements Delivery<ClaimedRecipient> {
  readonly id: string;
  readonly projectId: string;
  takenAt = performance.now();
  readonly calls = 'allowed';
  readonly open: Set<ClaimedRecipient>;
  readonly reviewed: ReviewedRecipient[] = [];
  /** Messages that were rendered or could not be, and the milliseconds that took. */
  rendered = 0;
  composeMs = 0;
  readonly #suppressing: Suppressing | null;
  readonly #facts: RecipientFacts;
  readonly #compose: ComposeNoted;
  readonly #most: number;
  #chosen: ReadonlySet<ClaimedRecipient> | null = null;
  readonly #rendered = new Map<string, { finding: MessageFinding; missing: ReadonlySet<string>; isPlain: boolean }>();

  constructor({ id, projectId, suppressing, facts, compose, recipients, most }: DryRoundInput) {
    this.id = id;
    this.projectId = projectId;
    this.#suppressing = suppressing;
    this.#facts = facts;
    this.#compose = compose;
    this.#most = most;
    this.open = new Set(recipients);
  }

  idOf({ emailId }: ClaimedRecipient): string {
    return emailId;
  }

  triedOf() {
    return { attempts: 0, ageMs: 0 };
  }

  refusalOf(recipient: ClaimedRecipient): Reason | null {
    return campaignRefusal(this.#facts, recipient);
  }

  recipientOf({ toAddress, contactId }: ClaimedRecipient): MailRecipient {
    return { address: toAddress, marketingTo: this.#facts.needsSubscription ? contactId : null };
  }

  async suppressing(): Promise<Suppressing | null> {
    return this.#suppressing;
  }

  compose(recipient: ClaimedRecipient): OutgoingMessage {
    // Whoever is suppressed or refused is no longer open by now.
    this.#chosen ??= chosenOf(this.open, this.#most);
    if (!this.#chosen.has(recipient)) return { ...unrendered, emailId: recipient.emailId, projectId: this.projectId };
    const began = performance.now();
    this.rendered += 1;
    try {
      return this.#render(recipient);
    } finally {
      this.composeMs += performance.now() - began;
    }
  }

  #render(recipient: ClaimedRecipient): OutgoingMessage {
    const notes: ComposeNotes = { missing: new Set(), problem: null };
    const message = this.#compose(recipient, notes);
    const finding = findingOf(message);
    this.#rendered.set(recipient.emailId, { finding, missing: notes.missing, isPlain: notes.problem !== null });
    return message;
  }

  keep({ subject }: OutgoingMessage): KeptTexts {
    return { subject, body: null };
  }

  async renew(): Promise<boolean> {
    return true;
  }

  async settle(outcomes: readonly Outcome<ClaimedRecipient>[]): Promise<void> {
    for (const end of outcomes) {
      if (end.outcome === 'SENT') this.#close(end.mail, null);
      else if (end.outcome === 'SUPPRESSED') this.#close(end.mail, suppressedText(end.suppression));
      else if (end.outcome === 'FAILED' || end.outcome === 'BOUNCED')
        this.#close(end.mail, reasonText(end.reason), end.reason.code === 'not_rendered');
    }
  }

  #close(recipient: ClaimedRecipient, leftOut: string | null, isFault = false): void {
    if (!this.open.delete(recipient)) return;
    const rendered = leftOut === null ? this.#rendered.get(recipient.emailId) : undefined;
    this.#rendered.delete(recipient.emailId);
    const problems = new Set(rendered?.finding.problems);
    if (isFault || rendered?.isPlain) problems.add('render');
    this.reviewed.push({
      contactId: recipient.contactId,
      finding: rendered?.finding ?? null,
      leftOut,
      missing: rendered?.missing ?? none,
      problems,
    });
  }
}

const none: ReadonlySet<string> = new Set();

/** Stands for the message of whoever is outside of the sample; the sink looks at its ID alone. */
const unrendered: Omit<OutgoingMessage, 'emailId' | 'projectId'> = {
  from: { address: '', name: null },
  to: { address: '', name: null },
  replyTo: null,
  subject: '',
  html: '',
  text: null,
  headers: [],
  attachments: [],
  tag: '',
  stream: 'broadcast',
  tracking: false,
};

// By hash, for neighbors in the order of IDs often came by the same import.
function chosenOf(open: ReadonlySet<ClaimedRecipient>, most: number): ReadonlySet<ClaimedRecipient> {
  if (most >= open.size) return new Set(open);
  const hashed = [...open].map((recipient) => ({ recipient, key: hash('sha256', recipient.contactId) }));
  hashed.sort((a, b) => (a.key < b.key ? -1 : 1));
  return new Set(hashed.slice(0, most).map(({ recipient }) => recipient));
}

/** Takes every message and keeps none. */
export const sink: Mailer = {
  name: 'dry-run',
  maxBatchMessages: 500,
  maxBatchBytes: Number.POSITIVE_INFINITY,
  maxMessageBytes: Number.POSITIVE_INFINITY,
  send: async (_, messages) => messages.map(({ emailId }) => taken(emailId)),
  begin: () => {
    const ids: string[] = [];
    return { add: ({ emailId }) => void ids.push(emailId), send: async () => ids.map(taken) };
  },
  accepted: async () => new Map(),
};

function taken(messageId: string) {
  return { kind: 'accepted', messageId, at: '' } as const;
}

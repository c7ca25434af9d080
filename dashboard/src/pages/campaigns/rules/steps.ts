import { missingIn, type Tree } from '../../../conditions/tree.ts';

/** Who gets a campaign, as the form has it. */
export interface Audience {
  audienceType: 'ALL' | 'SEGMENT' | 'FILTERED';
  segmentId: string;
  audienceCondition: Tree | null;
}

/** The parts of a campaign without which it can neither be saved nor sent. */
export interface Needed {
  name: string;
  from: string;
  subject: string;
  body: string;
  /** Null where the message is written as HTML. */
  document: object | null;
  audience: Audience;
}

/** The steps of the composer, in their order; the key stands in the address. */
export const composerSteps = [
  { key: 'content', name: 'Content' },
  { key: 'audience', name: 'Audience' },
  { key: 'send', name: 'Send' },
] as const;

/** A step of the composer. */
export type ComposerStep = (typeof composerSteps)[number]['key'];

/** The step that an address names; the first one where it names none. What was reviewed in a step of its own is checked where it is sent. */
export function stepIn(text: string | undefined): ComposerStep {
  return composerSteps.find(({ key }) => key === (text === 'review' ? 'send' : text))?.key ?? 'content';
}

/** Returns what is missing before a campaign can be saved and sent, as sentences, each at its step. */
export function missingAt({ audience, ...mail }: Needed): Record<ComposerStep, string[]> {
  const isWritten = mail.document !== null || mail.body.trim() !== '';
  return {
    content: [
      mail.name.trim() === '' ? 'Enter a name.' : null,
      mail.from.trim() === '' ? 'Enter a from address.' : null,
      mail.subject.trim() === '' ? 'Enter a subject.' : null,
      isWritten ? null : 'Write the email.',
    ].filter((each) => each !== null),
    audience: missingOfAudience(audience),
    send: [],
  };
}

function missingOfAudience({ audienceType, segmentId, audienceCondition }: Audience): string[] {
  if (audienceType === 'SEGMENT' && segmentId === '') return ['Select a segment.'];
  if (audienceType !== 'FILTERED') return [];
  const missing = audienceCondition === null ? 'Add a condition.' : missingIn(audienceCondition);
  return missing === null ? [] : [missing];
}

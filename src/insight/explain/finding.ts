import type { Decision, Explanation } from './schema.ts';

/** An explanation without the contact and the link that every one has. */
export type Finding = Omit<Explanation, 'contact' | 'permalink'>;
export type FindingVerdict = Finding['verdict'];

type Detail = Partial<Omit<Decision, 'check' | 'outcome' | 'sentence' | 'basis'>>;

/** Something that was written down when it happened. */
export function recorded(check: string, outcome: Decision['outcome'], sentence: string, detail: Detail = {}): Decision {
  return decision(check, outcome, sentence, { basis: 'recorded', ...detail });
}

/** Something that was worked out for the answer, from values as they were at `dataAsOf`. */
export function evaluated(
  check: string,
  outcome: Decision['outcome'],
  sentence: string,
  detail: Detail & { dataAsOf: string },
): Decision {
  return decision(check, outcome, sentence, { basis: 'evaluated', ...detail });
}

function decision(
  check: string,
  outcome: Decision['outcome'],
  sentence: string,
  detail: Detail & Pick<Decision, 'basis'>,
): Decision {
  return { at: null, check, outcome, sentence, expected: null, actual: null, dataAsOf: null, source: null, ...detail };
}

/** The finding of a verdict: its sentence is that of the first stop, or the given one. */
export function finding(
  verdict: FindingVerdict,
  decisions: Decision[],
  sentence?: string,
  more: Partial<Pick<Finding, 'next' | 'fixes'>> = {},
): Finding {
  const reason = sentence ?? decisions.find(({ outcome }) => outcome === 'stop')?.sentence ?? '';
  return { verdict, sentence: reason, decisions, next: null, fixes: [], ...more };
}

const instants = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });

/** An instant as sentences write it: `Nov 22, 2026, 2:48 PM UTC`. */
export function onDate(at: string): string {
  return `${instants.format(new Date(at)).replaceAll('\u202f', ' ')} UTC`;
}

import { hash } from 'node:crypto';
import { type ProblemKind, problemKinds } from './findings.ts';
import type { ReviewedRecipient } from './round.ts';

/** How often something was found, and a few contacts to look at. */
interface Found {
  count: number;
  examples: string[];
}

/** What a dry run has found so far. Its size does not grow with the audience. */
export interface Findings {
  leftOut: Record<string, number>;
  missing: Record<string, Found>;
  problems: Partial<Record<ProblemKind, Found>>;
  /** Contacts whose message is shown. */
  samples?: string[];
  byProvider?: { domain: string; count: number }[];
}

const mostNames = 50;
const mostExamples = 3;
const others = 'Other reasons';

/** Adds recipients to what was found. */
export function tally(before: Findings, reviewed: readonly ReviewedRecipient[]): Findings {
  const findings = structuredClone({
    leftOut: before.leftOut ?? {},
    missing: before.missing ?? {},
    problems: before.problems ?? {},
  });
  for (const { contactId, leftOut, missing, problems } of reviewed) {
    if (leftOut !== null) {
      const reason = isRoomFor(findings.leftOut, leftOut) ? leftOut : others;
      findings.leftOut[reason] = (findings.leftOut[reason] ?? 0) + 1;
    }
    for (const variable of missing)
      if (isRoomFor(findings.missing, variable)) add(findings.missing, variable, contactId);
    for (const kind of problemKinds) if (problems.has(kind)) add(findings.problems, kind, contactId);
  }
  return findings;
}

// A template or a provider's words may name very many.
function isRoomFor(known: object, name: string): boolean {
  return Object.hasOwn(known, name) || Object.keys(known).length < mostNames;
}

function add<Name extends string>(into: Partial<Record<Name, Found>>, name: Name, contactId: string): void {
  const found = (Object.hasOwn(into, name) ? into[name] : undefined) ?? { count: 0, examples: [] };
  found.count += 1;
  if (found.examples.length < mostExamples) found.examples.push(contactId);
  into[name] = found;
}

/** Goes on with the hash of an audience: contacts in the order of their IDs, each with what they would get. */
export function chained(before: Buffer, reviewed: readonly ReviewedRecipient[]): Buffer {
  let chain = before.toString('hex');
  for (const { contactId, finding, leftOut } of reviewed)
    chain = hash('sha256', JSON.stringify([chain, contactId, finding?.hash ?? null, leftOut]));
  return Buffer.from(chain, 'hex');
}

/** Contacts whose messages are worth a look first: those of whom something was found. */
export function exampleContacts({ missing, problems }: Findings): string[] {
  const found = [...Object.values(problems ?? {}), ...Object.values(missing ?? {})];
  return [...new Set(found.flatMap(({ examples }) => examples.slice(0, 1)))];
}

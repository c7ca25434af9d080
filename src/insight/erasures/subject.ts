import { pseudonymOf } from '../../audience/erased/index.ts';
import { unseal } from '../../core/lib/seal.ts';
import type { Erasure } from './entity.ts';

/** Who is erased, as the steps need it. */
export interface Subject {
  erasureId: string;
  projectId: string;
  contactId: string;
  /** What stands in place of an address from now on. */
  pseudonym: string;
  /** The addresses that the contact had; none once the certificate was issued. */
  addresses: readonly string[];
  /** A regular expression of Postgres, for `~*`, that finds the addresses in text and JSON; null without addresses. */
  pattern: string | null;
  keepSuppressed: boolean;
  requestedAt: Date;
}

/** The subject of an erasure. @throws UnsealError */
export function subjectOf(erasure: Erasure, encryptionKeys: readonly string[]): Subject {
  const sealed = erasure.addressesSealed;
  const addresses = !sealed ? [] : (JSON.parse(unseal(sealed, encryptionKeys)) as string[]);
  return {
    erasureId: erasure.id,
    projectId: erasure.projectId,
    contactId: erasure.contactId,
    pseudonym: pseudonymOf(erasure.subject),
    addresses,
    pattern: addresses.length === 0 ? null : patternOf(addresses),
    keepSuppressed: erasure.keepSuppressed,
    requestedAt: erasure.createdAt,
  };
}

/**
 * Finds addresses as a whole: `ada@example.com` is neither part of `nada@example.com` nor of `ada@example.com.au`. In JSON a line
 * break before it is the letter of an escape, and in a URL its `@` is `%40`.
 */
export function patternOf(addresses: readonly string[]): string {
  const spellings = [...new Set(addresses.flatMap((address) => [address, encodeURIComponent(address)]))];
  const escaped = spellings.map((text) => text.replaceAll(/[\\^$.|?*+()[\]{}]/g, String.raw`\$&`));
  return String.raw`(?:(?<![\w.+-])|(?<=\\[nrtbf])|(?<=%[0-9A-F][0-9A-F]))(?:${escaped.join('|')})(?![\w-]|\.\w)`;
}

import { readFileSync } from 'node:fs';

/** A well-known mail domain, with misspellings of it that more than one slip explains. */
interface PopularDomain {
  domain: string;
  misspellings: readonly string[];
}

/** The domain lists that ship with the package, lower-cased, matched on the whole domain. */
export interface Lists {
  /** Throw-away mailboxes. */
  disposable: ReadonlySet<string>;
  /** Free mailbox providers. */
  personal: ReadonlySet<string>;
  /** Forwarding services that hide the address behind. */
  alias: ReadonlySet<string>;
  /** What a mistyped domain was most likely meant to be, most used first. */
  popular: readonly PopularDomain[];
  /** Real domains that look like a mistyped popular one. */
  notTypos: ReadonlySet<string>;
}

const shipped = new URL('./lists/', import.meta.url);

/**
 * Reads the lists from their folder: one domain a line, `#` starts a comment. A list that cannot be read is empty,
 * so what it would tell is answered false (docs/contract/core.md#2-10).
 */
export function loadLists(folder: URL = shipped): Lists {
  const domains = (name: string) => new Set(readLines(new URL(name, folder)));
  return {
    disposable: domains('disposable.txt'),
    personal: domains('personal.txt'),
    alias: domains('alias.txt'),
    popular: readLines(new URL('popular.txt', folder)).map(popularDomain),
    notTypos: domains('not-typos.txt'),
  };
}

let shippedOnce: Lists | undefined;

/** The lists that ship with the package, read once and never changed. */
export function shippedLists(): Lists {
  shippedOnce ??= loadLists();
  return shippedOnce;
}

function readLines(file: URL): string[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return [];
  }
  return text
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim().toLowerCase())
    .filter((line) => line !== '');
}

function popularDomain(line: string): PopularDomain {
  const [domain = line, ...misspellings] = line.split(/\s+/);
  return { domain, misspellings };
}

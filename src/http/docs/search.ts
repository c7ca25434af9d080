import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Options } from 'minisearch';

/** A place in the documentation that can be found. */
export interface SearchEntry {
  title: string;
  /** Where it belongs, in a few words: `Guide`, `POST /v1/send`. */
  place: string;
  /** Its text without markup. */
  text: string;
  address: string;
}

// Whoever builds an index of the entries by these searches as the pages do, so they are sent along.
const options = {
  fields: ['title', 'words', 'place', 'text'],
  storeFields: ['title', 'place', 'text', 'address'],
  searchOptions: { prefix: true, fuzzy: 0.2, combineWith: 'AND', boost: { title: 4, words: 3, place: 2 } },
} satisfies Options;

/**
 * What is searched as JSON: `{ options, entries }`, for `new MiniSearch(options)` and its `addAll(entries)`. The index
 * of the whole documentation is twice as large as its text and built in a fifth of a second, so browsers build it.
 */
export function searchJson(entries: Iterable<SearchEntry>): string {
  const numbered = Array.from(entries, (entry, id) => ({ id, ...entry, words: wordsOf(entry.title) }));
  return JSON.stringify({ options, entries: numbered });
}

/** The module that searches in browsers. */
export function searchModule(): string {
  const file = readFileSync(fileURLToPath(import.meta.resolve('minisearch')), 'utf8');
  return file.replace(/^\/\/# sourceMappingURL=.*$/m, '');
}

/** Markdown without its markup, in one line. */
export function plainText(markdown: string): string {
  return markdown
    .replaceAll(/<a id="[^"]*"><\/a>/g, '')
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/^```\w*$/gm, '')
    .replaceAll(/^\|?(?:\s*:?-+:?\s*\|)+\s*$/gm, '')
    .replaceAll(/`|\*\*/g, '')
    .replaceAll('|', ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

// `publicKeyMode` is found by "key mode" as well.
function wordsOf(title: string): string | undefined {
  const words = title.replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, ' ');
  return words === title ? undefined : words;
}

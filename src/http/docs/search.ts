import { readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import MiniSearch, { type Options } from 'minisearch';

/** A place in the documentation that can be found. */
export interface SearchEntry {
  title: string;
  /** Where it belongs, in a few words: `Guide`, `POST /v1/send`. */
  place: string;
  /** Its text without markup. */
  text: string;
  address: string;
}

// Everything that a browser needs to search the index the same way, so it is sent along.
const options = {
  fields: ['title', 'words', 'place', 'text'],
  storeFields: ['title', 'place', 'text', 'address'],
  searchOptions: { prefix: true, fuzzy: 0.2, combineWith: 'AND', boost: { title: 4, words: 3, place: 2 } },
} satisfies Options;

/** Milliseconds of work on the index, after which everything else in the process has its turn. */
const step = 5;

/** The index as JSON: `{ options, index }`, both for `MiniSearch.loadJS(index, options)`. Entries are read one by one as they are added. */
export async function searchIndex(entries: Iterable<SearchEntry>): Promise<string> {
  const index = new MiniSearch<SearchEntry & { id: number; words: string }>(options);
  let began = performance.now();
  for (const entry of entries) {
    index.add({ id: index.documentCount, ...entry, words: wordsOf(entry.title) });
    if (performance.now() - began < step) continue;
    await setImmediate();
    began = performance.now();
  }
  return JSON.stringify({ options, index });
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
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/^```\w*$/gm, '')
    .replaceAll(/^\|?(?:\s*:?-+:?\s*\|)+\s*$/gm, '')
    .replaceAll(/`|\*\*/g, '')
    .replaceAll('|', ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

// `publicKeyMode` is found by "key mode" as well.
function wordsOf(title: string): string {
  const words = title.replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, ' ');
  return words === title ? '' : words;
}

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Options } from 'minisearch';
import type { OpenApiDocument } from './document.ts';
import { type Download, downloadsText, type Served } from './downloads.ts';
import {
  type Guide,
  type GuideLink,
  guideParts,
  listGuides,
  readGuide,
  renderGuide,
  type SearchEntry,
} from './guides.ts';
import { docsPage, type LinkGroup } from './layout.ts';
import { Reference } from './reference.ts';

export type { OpenApiDocument } from './document.ts';
export type { Download } from './downloads.ts';

/** A file of the documentation. */
export interface DocsFile {
  type: 'html' | 'css' | 'js' | 'json' | 'md' | 'txt';
  text: string;
  /** Of its text: another for another text. */
  hash: string;
}

type Content = Omit<DocsFile, 'hash'>;

const assets = fileURLToPath(new URL('./assets/', import.meta.url));

/** The documentation of a service: the guides of a folder, and the reference of its OpenAPI document. Pages are written once. */
export class Docs {
  readonly #folder: string;
  readonly #document: () => OpenApiDocument;
  readonly #served: Served;
  readonly #files = new Map<string, DocsFile | null>();
  #known:
    | { reference: Reference; guides: GuideLink[]; navigation: LinkGroup[]; files: Map<string, string> }
    | undefined;
  #searched: DocsFile | undefined;

  /**
   * `guides` is a folder of Markdown files, with a README that lists them, and files beside the folder. Where they say `https://mail.example.com` and `<version>`, their
   * pages say where the service is and its version.
   */
  constructor(options: { guides: string; document: () => OpenApiDocument; served: Served }) {
    this.#folder = options.guides;
    this.#document = options.document;
    this.#served = options.served;
  }

  /** The file at an address such as `/docs/quick-start`, or null. */
  find(address: string): DocsFile | null {
    const known = this.#files.get(address);
    if (known !== undefined) return known;
    const content = this.#make(address);
    const made = content === null ? null : hashed(content);
    // Addresses that lead nowhere are not kept: there is no end of them.
    if (made !== null) this.#files.set(address, made);
    return made;
  }

  /** What the search of the pages reads. */
  search(): DocsFile {
    this.#searched ??= hashed({ type: 'json', text: searchJson(this.#searchEntries()) });
    return this.#searched;
  }

  /** The page `/downloads/` about these files, or about files that are still being built. */
  downloads(files: readonly Download[] | null): DocsFile {
    return hashed(this.#html('/downloads/', renderGuide(downloadsText(files, this.#served))));
  }

  #html(address: string, page: Guide): Content {
    const { navigation } = this.#parts();
    return { type: 'html', text: docsPage({ address, twin: twinOf(address), navigation, ...page }) };
  }

  #make(address: string): Content | null {
    if (address === '/docs/assets/docs.css')
      return { type: 'css', text: readFileSync(join(assets, 'docs.css'), 'utf8') };
    if (address === '/docs/assets/docs.js') return { type: 'js', text: readFileSync(join(assets, 'docs.js'), 'utf8') };
    if (address === '/docs/assets/minisearch.js') return { type: 'js', text: searchModule() };
    if (address === '/docs/llms.txt') return { type: 'txt', text: this.#forLanguageModels() };
    const path = address.slice('/docs'.length);
    if (path.endsWith('.md')) {
      const text = this.#markdown(path.slice(0, -'.md'.length));
      return text === null ? null : { type: 'md', text };
    }
    const page = this.#page(path);
    return page === null ? null : this.#html(address, page);
  }

  #page(path: string): Guide | null {
    const { reference, files } = this.#parts();
    if (path === '/reference') return reference.overview();
    if (path.startsWith('/reference/')) return reference.page(path.slice('/reference/'.length));
    const name = path === '' ? 'README' : path.slice(1);
    return files.has(name) ? renderGuide(this.#guideText(name)) : null;
  }

  // The Markdown of a page. Guides link each other by their files, which are the addresses of their Markdown.
  #markdown(path: string): string | null {
    const { reference, files } = this.#parts();
    if (path === '/reference') return reference.overviewMarkdown();
    if (path.startsWith('/reference/')) return reference.pageMarkdown(path.slice('/reference/'.length));
    return files.has(path.slice(1)) ? this.#guideText(path.slice(1)) : null;
  }

  // In the format of https://llmstxt.org: title, summary, and lists of links to Markdown.
  #forLanguageModels(): string {
    const { baseUrl } = this.#served;
    const { reference, guides } = this.#parts();
    const [, title = '', summary = ''] = /^# (.*)\n\n([^\n]*(?:\n[^\n]+)*)/.exec(this.#guideText('README')) ?? [];
    const absolute = summary
      .replaceAll(/\]\(([\w-]+\.md)/g, `](${baseUrl}/docs/$1`)
      .replaceAll('](/docs/reference)', `](${baseUrl}/docs/reference.md)`)
      .replaceAll('\n', ' ');
    const groups = [...new Set(guides.map(({ group }) => group))].map((group) => {
      const links = guides
        .filter((guide) => guide.group === group)
        .map(
          ({ title: text, name, about }) =>
            `- [${text}](${baseUrl}/docs/${name}.md)${about === '' ? '' : `: ${about}`}`,
        );
      return `## ${group}\n\n${links.join('\n')}`;
    });
    const pages = reference
      .tags()
      .map(({ slug, title: text, description }) => `- [${text}](${baseUrl}/docs/reference/${slug}.md): ${description}`);
    const overview = `- [Overview](${baseUrl}/docs/reference.md): every operation in a line, and the errors`;
    const api = `## API reference\n\n${[overview, ...pages].join('\n')}`;
    return `${[`# ${title}`, `> ${absolute}`, ...groups, api].join('\n\n')}\n`;
  }

  #guideText(name: string): string {
    const { baseUrl, version } = this.#served;
    const { files } = this.#parts();
    const text = readGuide(this.#folder, files.get(name) ?? '');
    // Files of the repository that the service does not have are named, not linked.
    const linked = text.replaceAll(/\[([^\]]*)\]\((?:[\w-]+\/)*([\w-]+)\.md(?:#[\w-]*)?\)/g, (link, words, page) =>
      files.has(page) ? link : words,
    );
    return linked.replaceAll('https://mail.example.com', baseUrl).replaceAll('<version>', version);
  }

  #parts() {
    if (this.#known !== undefined) return this.#known;
    const reference = new Reference(this.#document());
    const guides = listGuides(this.#folder);
    const groups = [...new Set(guides.map(({ group }) => group))].map((title) => ({
      title,
      links: guides
        .filter(({ group }) => group === title)
        .map(({ title: text, name }) => ({ title: text, address: `/docs/${name}` })),
    }));
    groups[0]?.links.push({ title: 'Downloads', address: '/downloads/' });
    const tags = reference.tags().map(({ slug, title }) => ({ title, address: `/docs/reference/${slug}` }));
    const overview = { title: 'Overview', address: '/docs/reference' };
    const navigation = [...groups, { title: 'API reference', links: [overview, ...tags] }];
    const files = new Map([['README', 'README.md'], ...guides.map(({ name, file }) => [name, file] as const)]);
    this.#known = { reference, guides, navigation, files };
    return this.#known;
  }

  *#searchEntries(): Generator<SearchEntry> {
    const { guides, reference } = this.#parts();
    for (const { name, title } of guides) {
      for (const part of guideParts(this.#guideText(name)))
        yield {
          title: part.title,
          place: part.id === null ? 'Guide' : title,
          text: part.text,
          address: part.id === null ? `/docs/${name}` : `/docs/${name}#${part.id}`,
        };
    }
    yield* reference.entries();
  }
}

function hashed(content: Content): DocsFile {
  return { ...content, hash: createHash('sha256').update(content.text).digest('base64url') };
}

// Where a page is in Markdown, or null: the page of downloads changes as they are built.
function twinOf(address: string): string | null {
  if (address === '/docs') return '/docs/README.md';
  return address.startsWith('/docs/') ? `${address}.md` : null;
}

// Whoever builds an index of the entries by these searches as the pages do, so they are sent along.
const searchOptions = {
  fields: ['title', 'words', 'place', 'text'],
  storeFields: ['title', 'place', 'text', 'address'],
  searchOptions: { prefix: true, fuzzy: 0.2, combineWith: 'AND', boost: { title: 4, words: 3, place: 2 } },
} satisfies Options;

/**
 * What is searched as JSON: `{ options, entries }`, for `new MiniSearch(options)` and its `addAll(entries)`. The index
 * of the whole documentation is twice as large as its text and built in a fifth of a second, so browsers build it.
 */
function searchJson(entries: Iterable<SearchEntry>): string {
  const numbered = Array.from(entries, (entry, id) => ({ id, ...entry, words: wordsOf(entry.title) }));
  return JSON.stringify({ options: searchOptions, entries: numbered });
}

/** The module that searches in browsers. */
function searchModule(): string {
  const file = readFileSync(fileURLToPath(import.meta.resolve('minisearch')), 'utf8');
  return file.replace(/^\/\/# sourceMappingURL=.*$/m, '');
}

// `publicKeyMode` is found by "key mode" as well.
function wordsOf(title: string): string | undefined {
  const words = title.replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, ' ');
  return words === title ? undefined : words;
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { OpenApiDocument } from './document.ts';
import { type Guide, listGuides, renderGuide } from './guides.ts';
import { docsPage, type LinkGroup } from './layout.ts';
import { Reference } from './reference.ts';

export type { OpenApiDocument } from './document.ts';

/** A file of the documentation. */
export interface DocsFile {
  type: 'html' | 'css' | 'js' | 'json';
  text: string;
}

const assets = fileURLToPath(new URL('../assets/', import.meta.url));

/** The documentation of a service: the guides of a folder, and the reference of its OpenAPI document. Pages are written once. */
export class Docs {
  readonly #folder: string;
  readonly #document: () => OpenApiDocument;
  readonly #files = new Map<string, DocsFile | null>();
  #known: { reference: Reference; navigation: LinkGroup[]; names: Set<string> } | undefined;

  /** `guides` is a folder of Markdown files, with a README that lists them. */
  constructor(options: { guides: string; document: () => OpenApiDocument }) {
    this.#folder = options.guides;
    this.#document = options.document;
  }

  /** The file at an address such as `/docs/quick-start`, or null. */
  find(address: string): DocsFile | null {
    const known = this.#files.get(address);
    if (known !== undefined) return known;
    const made = this.#make(address);
    // Addresses that lead nowhere are not kept: there is no end of them.
    if (made !== null) this.#files.set(address, made);
    return made;
  }

  #make(address: string): DocsFile | null {
    if (address === '/docs/assets/docs.css')
      return { type: 'css', text: readFileSync(join(assets, 'docs.css'), 'utf8') };
    if (address === '/docs/assets/docs.js') return { type: 'js', text: readFileSync(join(assets, 'docs.js'), 'utf8') };
    if (address === '/docs/search.json') return { type: 'json', text: JSON.stringify(this.#searchEntries()) };
    const page = this.#page(address.slice('/docs'.length));
    if (page === null) return null;
    const { navigation } = this.#parts();
    return { type: 'html', text: docsPage({ address, navigation, ...page }) };
  }

  #page(path: string): Guide | null {
    const { reference, names } = this.#parts();
    if (path === '/reference') return reference.overview();
    if (path.startsWith('/reference/')) return reference.page(path.slice('/reference/'.length));
    const name = path === '' ? 'README' : path.slice(1);
    return names.has(name) ? renderGuide(readFileSync(join(this.#folder, `${name}.md`), 'utf8')) : null;
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
    const tags = reference.tags().map(({ slug, title }) => ({ title, address: `/docs/reference/${slug}` }));
    const overview = { title: 'Overview', address: '/docs/reference' };
    const navigation = [...groups, { title: 'API reference', links: [overview, ...tags] }];
    this.#known = { reference, navigation, names: new Set(['README', ...guides.map(({ name }) => name)]) };
    return this.#known;
  }

  #searchEntries(): { title: string; text: string; address: string }[] {
    const guides = listGuides(this.#folder).flatMap(({ name, title }) => {
      const { sections } = renderGuide(readFileSync(join(this.#folder, `${name}.md`), 'utf8'));
      const address = `/docs/${name}`;
      return [
        { title, text: 'Guide', address },
        ...sections.map((section) => ({ title: section.title, text: title, address: `${address}#${section.id}` })),
      ];
    });
    return [...guides, ...this.#parts().reference.entries()];
  }
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Marked, type Token, type Tokens } from 'marked';
import { type Code, snippetHtml } from './document.ts';

/** A guide as the list of guides names it. */
export interface GuideLink {
  /** The last part of its address, and the name of its file. */
  name: string;
  /** Its file, seen from the folder of the guides. */
  file: string;
  title: string;
  /** Its subject, in a sentence. */
  about: string;
  group: string;
}

/** A rendered guide. */
export interface Guide {
  title: string;
  html: string;
  sections: Section[];
}

export interface Section {
  id: string;
  title: string;
}

// Snippets that follow each other are the same in several languages.
const grouped = new Set(['sh', 'ts', 'python']);

const markdown = new Marked({
  renderer: {
    heading({ tokens, depth, text }) {
      const id = anchorOf(text);
      const content = this.parser.parseInline(tokens);
      return depth === 1
        ? `<h1>${content}</h1>\n`
        : `<h${depth} id="${id}"><a class="anchor" href="#${id}">${content}</a></h${depth}>\n`;
    },
    link({ href, tokens }) {
      return `<a href="${addressOf(href)}">${this.parser.parseInline(tokens)}</a>`;
    },
    code({ lang = '', text }) {
      return snippetHtml([{ language: lang, text }]);
    },
    table(token) {
      const cells = (row: readonly Tokens.TableCell[], tag: string, scope: string) =>
        `<tr>${row.map(({ tokens }) => `<${tag}${scope}>${this.parser.parseInline(tokens)}</${tag}>`).join('')}</tr>`;
      const body = token.rows.map((row) => cells(row, 'td', '')).join('\n');
      return `<div class="table"><table><thead>${cells(token.header, 'th', ' scope="col"')}</thead><tbody>\n${body}</tbody></table></div>\n`;
    },
  },
});

/** The guides of a folder and the pages of operations, in the order and the groups of the list in its README. */
export function listGuides(folder: string): GuideLink[] {
  let group = '';
  return readFileSync(join(folder, 'README.md'), 'utf8')
    .split('\n')
    .flatMap((line) => {
      group = /^## (.*)/.exec(line)?.[1] ?? group;
      const [, title, file, name, about = ''] =
        /^- \[(.*?)\]\(((?:\.\.\/(?:operations\/)?)?([\w-]+)\.md)\)(?:: (.*))?/.exec(line) ?? [];
      return title === undefined || file === undefined || name === undefined
        ? []
        : [{ name, file, title, about, group }];
    });
}

/** The Markdown of a file in the folder of the guides, in that of operations, or beside them: pages are all at one place, and so link each other. */
export function readGuide(folder: string, file: string): string {
  const text = readFileSync(join(folder, file), 'utf8');
  return text.replaceAll(/\]\((?:(?:\.\.|guides|operations)\/)+(?=[\w-]+\.md)/g, '](');
}

/** Renders the Markdown of a guide. */
export function renderGuide(text: string): Guide {
  const tokens = markdown.lexer(text);
  const headings = tokens.filter((token): token is Tokens.Heading => token.type === 'heading');
  const title = headings.find(({ depth }) => depth === 1)?.text ?? '';
  const sections = headings
    .filter(({ depth }) => depth === 2)
    .map((heading) => ({ id: anchorOf(heading.text), title: withoutMarkup(heading.text) }));
  return { title, sections, html: blocksOf(tokens).join('') };
}

/** The parts of a guide that have an address: its beginning, and each heading with what follows it. */
export function guideParts(text: string): { id: string | null; title: string; text: string }[] {
  const parts: { id: string | null; title: string; text: string }[] = [];
  for (const token of markdown.lexer(text)) {
    if (token.type === 'heading') {
      const { text: heading, depth } = token as Tokens.Heading;
      parts.push({ id: depth === 1 ? null : anchorOf(heading), title: withoutMarkup(heading), text: '' });
    } else {
      const last = parts.at(-1);
      if (last !== undefined) last.text += `${token.raw}\n`;
    }
  }
  return parts.map((part) => ({ ...part, text: plainText(part.text) }));
}

function blocksOf(tokens: readonly Token[]): string[] {
  const blocks: string[] = [];
  let codes: Code[] = [];
  const endGroup = () => {
    if (codes.length > 0) blocks.push(snippetHtml(codes));
    codes = [];
  };
  for (const token of tokens) {
    if (token.type === 'space') continue;
    const { type, lang: language = '', text = '' } = token as Tokens.Code;
    if (type === 'code' && grouped.has(language)) {
      if (codes.some((code) => code.language === language)) endGroup();
      codes.push({ language, text });
    } else {
      endGroup();
      blocks.push(markdown.parser([token]));
    }
  }
  endGroup();
  return blocks;
}

// As GitHub makes it, so that links work there as well.
function anchorOf(heading: string): string {
  return withoutMarkup(heading)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}

function withoutMarkup(text: string): string {
  return text.replaceAll('`', '');
}

// Guides name each other by their files.
function addressOf(href: string): string {
  const [, name, anchor = ''] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? [];
  if (name === undefined) return href;
  return `${name === 'README' ? '/docs' : `/docs/${name}`}${anchor}`;
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

/** A place in the documentation that can be found. */
export interface SearchEntry {
  title: string;
  /** Where it belongs, in a few words: `Guide`, `POST /v1/send`. */
  place: string;
  /** Its text without markup. */
  text: string;
  address: string;
}

import type { OutputFacts, Printer } from './printing.ts';
import { allTrusted, noSources } from './sources.ts';
import { attributeText, marks, markText, tidyText } from './text-layout.ts';
import { mapText, plainText, rawText, unescapeHtml, valueText } from './values.ts';
import { ownNames } from './variables.ts';

/** The text of a template cannot be had by filling in values alone: its HTML has to be rendered and converted. */
export class NeedsHtml extends Error {}

const escapeFilters = new Set(['escape', 'xml_escape', 'escape_once']);
// In a literal: markup, or white space that would be taken for the template's own.
const unfit = /<|&(?! )|[\t\n\r]| {2}/;

/**
 * Writes into the text with marks that stands for an HTML template. A value that is escaped in the HTML reads there as
 * itself, so it is filled in as itself. One that goes into the HTML as it is may hold markup; then, and wherever a filter
 * of the author's adds some, `NeedsHtml` is thrown, before rendering where that is known.
 */
export function markedTextPrinter({ escapeValues }: { escapeValues: boolean }): Printer {
  return {
    guard({ sources, name, breaksLines, inAttribute }) {
      // Ids and links of the service's own hold neither markup nor blanks.
      if (sources === noSources && name !== null && ownNames.has(name)) return null;
      const tidy = breaksLines ? tidyLines : tidyText;
      const check = (value: unknown) => mapText(value, (text) => tidy(readAsHtml(text, inAttribute)));
      if (!escapeValues) return check;
      return (value, run) => (allTrusted(sources, run.variables) ? check(value) : mapText(value, tidy));
    },
    print({ raw, inAttribute }) {
      return (value) => {
        if (raw) return tidyText(readAsHtml(rawText(value), inAttribute));
        if (!Array.isArray(value)) return valueText(value);
        if (inAttribute) return plainText(value);
        return value.map((one) => `${marks.block}${marks.item}${valueText(one)}${marks.block}`).join(' ');
      };
    },
    replace(filter, facts) {
      if (filter.args.some((arg) => unfit.test(literalOf(arg)))) throw new NeedsHtml();
      if (escapeFilters.has(filter.name)) return unescaped(facts, filter.name === 'escape_once');
      if (filter.name === 'newline_to_br') return facts.breaksLines ? (value) => markLines(rawText(value)) : refuse();
      return null;
    },
  };
}

// A value that the author escapes reads as itself, if it is escaped once and last.
function unescaped({ escaped, raw, breaksLines, escapes }: OutputFacts, once: boolean): (value: unknown) => string {
  if (!escaped || raw || escapes !== 1) refuse();
  const tidy = breaksLines ? tidyLines : tidyText;
  return (value) => tidy(once ? unescapeHtml(rawText(value)) : rawText(value));
}

function refuse(): never {
  throw new NeedsHtml();
}

// Returns the text of a value that goes into the HTML unescaped. A single letter behind `&`, as in `&t=`, is no entity.
function readAsHtml(text: string, inAttribute: boolean): string {
  if (inAttribute ? /["']/.test(text) : text.includes('<')) throw new NeedsHtml();
  if (!/&(?:#|[a-z][a-z0-9])/i.test(text)) return text;
  if (/&#?\w*$/.test(text)) throw new NeedsHtml();
  const [, before = '', middle = '', after = ''] = /^(\s*)(.*?)(\s*)$/s.exec(text) ?? [];
  return before + (inAttribute ? attributeText(middle) : markText(middle)) + after;
}

function tidyLines(text: string): string {
  return text.split('\n').map(tidyText).join('\n');
}

function markLines(text: string): string {
  return text.replace(/\r?\n/g, `${marks.lineBreak} `);
}

function literalOf(arg: unknown): string {
  const token = Array.isArray(arg) ? (arg as unknown[])[1] : arg;
  return typeof token === 'object' && token !== null && 'content' in token ? String(token.content) : '';
}

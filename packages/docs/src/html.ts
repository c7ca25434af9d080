import highlighter from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import http from 'highlight.js/lib/languages/http';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import { marked } from 'marked';

for (const [name, language] of Object.entries({ bash, http, json, python, typescript, xml }))
  highlighter.registerLanguage(name, language);

/** The languages of snippets as Markdown names them: what they are called, and what highlights them. */
const languages: Readonly<Record<string, { label: string; highlight: string }>> = {
  sh: { label: 'curl', highlight: 'bash' },
  ts: { label: 'TypeScript', highlight: 'typescript' },
  python: { label: 'Python', highlight: 'python' },
  json: { label: 'JSON', highlight: 'json' },
  html: { label: 'HTML', highlight: 'xml' },
  http: { label: 'HTTP', highlight: 'http' },
  console: { label: 'Terminal', highlight: 'bash' },
};

/** Code in a language. */
export interface Code {
  language: string;
  text: string;
}

/** Text as it stands in HTML, in attributes as well. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** A sentence or more of Markdown without blocks; for paragraphs see `proseHtml`. */
export function inlineHtml(markdown: string): string {
  return marked.parseInline(markdown, { async: false });
}

/** Paragraphs and lists of Markdown. */
export function proseHtml(markdown: string): string {
  return marked.parse(markdown, { async: false });
}

/** One piece of code, or the same in several languages, between which a reader chooses. */
export function snippetHtml(codes: readonly Code[]): string {
  const blocks = codes.map(({ language, text }) => {
    const { label = language, highlight } = languages[language] ?? {};
    const colored =
      highlight === undefined ? escapeHtml(text) : highlighter.highlight(text, { language: highlight }).value;
    // Keyboards scroll what has the focus.
    return `<div class="snippet" data-label="${escapeHtml(label)}"><p class="language">${escapeHtml(label)}</p><pre tabindex="0"><code>${colored}</code></pre></div>`;
  });
  return `<div class="snippets">${blocks.join('')}</div>\n`;
}

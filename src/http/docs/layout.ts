import { docsLanguageKey } from '@fernpost/earlier-name';
import { escapeHtml } from './document.ts';
import type { Section } from './guides.ts';

/** A group of links beside a page. */
export interface LinkGroup {
  title: string;
  links: readonly { title: string; address: string }[];
}

interface Page {
  address: string;
  /** Where the page is in Markdown. */
  twin: string | null;
  title: string;
  html: string;
  sections: readonly Section[];
  navigation: readonly LinkGroup[];
}

/** A whole page of the documentation: header with search, navigation, content and the list of its sections. */
export function docsPage({ address, twin, title, html, sections, navigation }: Page): string {
  const link = ({ title: text, address: target }: LinkGroup['links'][number]) =>
    `<li><a href="${target}"${target === address ? ' aria-current="page"' : ''}>${escapeHtml(text)}</a></li>`;
  const groups = navigation.map(
    (group) => `<h2>${escapeHtml(group.title)}</h2>\n<ul>${group.links.map(link).join('\n')}</ul>`,
  );
  const contents = sections.map((section) => `<li><a href="#${section.id}">${escapeHtml(section.title)}</a></li>`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Fernpost docs</title>
<link rel="icon" href="/icon.svg">
${twin === null ? '' : `<link rel="alternate" type="text/markdown" href="${twin}">\n`}<link rel="stylesheet" href="/docs/assets/docs.css">
<script src="/docs/assets/docs.js" data-earlier-key="${docsLanguageKey}" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header>
<a class="brand" href="/docs">Fernpost docs</a>
<button type="button" class="menu" aria-expanded="false" aria-controls="navigation" hidden>Menu</button>
<search hidden><label><span class="hidden">Search the docs</span><input type="search" placeholder="Search the docs (press /)" autocomplete="off" spellcheck="false" role="combobox" aria-expanded="false" aria-controls="results" aria-autocomplete="list"></label><div class="results" hidden><p role="status"></p><div id="results" role="listbox" aria-label="Search results"></div></div></search>
</header>
<div class="columns">
<nav id="navigation" aria-label="Documentation">
${groups.join('\n')}
</nav>
<main id="content" tabindex="-1">
${html}
</main>
${contents.length > 1 ? `<aside class="contents" aria-label="On this page"><h2>On this page</h2><ul>${contents.join('\n')}</ul></aside>` : ''}
</div>
</body>
</html>
`;
}

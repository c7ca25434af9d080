/** Markup that may stand in a page as it is. */
export interface Html {
  readonly markup: string;
}

type Value = Html | readonly Html[] | string | number | null | undefined | false;

/** Builds markup; every value that is not itself markup is escaped, so that nothing in a mail can become markup. */
export function html(strings: TemplateStringsArray, ...values: Value[]): Html {
  let markup = strings[0] ?? '';
  values.forEach((value, i) => {
    markup += markupOf(value) + (strings[i + 1] ?? '');
  });
  return { markup };
}

/** The text with everything escaped that means something in element content or in a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"'`]/g, (char) => `&#${char.charCodeAt(0)};`);
}

/** Addresses that break after their @ before they break anywhere else. */
export function breakable(addresses: string): Html {
  return { markup: escapeHtml(addresses).replaceAll('@', '@<wbr>') };
}

function markupOf(value: Value): string {
  if (value === null || value === undefined || value === false) return '';
  if (typeof value === 'string') return escapeHtml(value);
  if (typeof value === 'number') return String(value);
  return 'markup' in value ? value.markup : value.map((one) => one.markup).join('');
}

/** Where in the list a message is read: the search, and the ID before which the page of the list starts (or empty). */
export interface Place {
  query: string;
  before: string;
}

/** The address of a page of the list. */
export function listAddress({ query, before }: Place): string {
  return withParameters('/', { q: query, before });
}

/** The address of a message that keeps its place in the list; parameters that are empty are left out. */
export function messageAddress(id: string, { query, before }: Place, more: Record<string, string> = {}): string {
  return withParameters(`/inbox/${id}`, { ...more, q: query, before });
}

/** A path with the parameters that are not empty. */
export function withParameters(path: string, parameters: Record<string, string>): string {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== ''));
  return query.size > 0 ? `${path}?${query}` : path;
}

/** The parts of every page. */
interface Page {
  title: string;
  /** Which entry of the navigation is this page. */
  here?: 'inbox' | 'inbound';
  /** Seconds after which the page loads itself again where scripts do not run; 0 for never. */
  refresh?: number;
  /** Whether the page is the inbox, which takes the whole window and has a script. */
  mail?: boolean;
  /** The footer of this page, beside that of every page. */
  footer?: Html;
  body: Html;
}

/** A whole page as text. */
export function layout({ title, here, refresh = 0, mail = false, footer, body }: Page): string {
  const current = (name: Page['here']) => (name === here ? html` aria-current="page"` : null);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
${refresh > 0 && html`<noscript><meta http-equiv="refresh" content="${refresh}"></noscript>`}
<title>${title} · Mail sandbox</title>
<link rel="stylesheet" href="/inbox/style.css">
<link rel="icon" href="/inbox/icon.svg">
${mail && html`<script type="module" src="/inbox/script/inbox.js"></script>`}
</head>
<body${mail && html` class="mail"`}>
<a class="skip" href="${mail ? '#reading' : '#main'}">${mail ? 'Skip to message' : 'Skip to content'}</a>
<header class="top">
<strong>Fernpost mail sandbox</strong>
<nav aria-label="Main">
<a href="/"${current('inbox')}>Inbox</a>
<a href="/inbound"${current('inbound')}>Receive email</a>
</nav>
</header>
<main id="main">${body}</main>
<footer><p>Messages stay on this machine and are never delivered.</p>${footer}</footer>
</body>
</html>
`.markup;
}

/**
 * An instant in a readable form, exact to the second in UTC. The script writes it in the reader's zone; `short` asks for the time of
 * today, or the day.
 */
export function moment(at: number, form: 'short' | 'full' = 'full'): Html {
  const iso = new Date(at).toISOString();
  const readable = `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
  return html`<time datetime="${iso}" data-form="${form}">${readable}</time>`;
}

/** A page that says what went wrong. */
export function errorPage(title: string, text: string): string {
  return layout({ title, body: html`<h1>${title}</h1><p>${text}</p><p><a href="/">Back to the inbox</a></p>` });
}

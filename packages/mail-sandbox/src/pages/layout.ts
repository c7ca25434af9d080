import { type Html, html } from './html.ts';

/** What every page has. */
export interface Page {
  title: string;
  /** Which entry of the navigation is this page. */
  here?: 'inbox' | 'inbound';
  /** Seconds after which the page loads itself again where scripts do not run; 0 for never. */
  refresh?: number;
  /** Whether the page is the inbox, which takes the whole window and has a script. */
  mail?: boolean;
  /** What stands below everything else, beside what is true of every page. */
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

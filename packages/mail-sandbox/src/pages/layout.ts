import { type Html, html } from './html.ts';

/** What every page has. */
export interface Page {
  title: string;
  /** Which entry of the navigation is this page. */
  here?: 'inbox' | 'inbound';
  /** Seconds after which the page loads itself again; 0 for never. */
  refresh?: number;
  /** Whether the page takes the width of the screen. */
  wide?: boolean;
  body: Html;
}

/** A whole page as text. */
export function layout({ title, here, refresh = 0, wide = false, body }: Page): string {
  const current = (name: Page['here']) => (name === here ? html` aria-current="page"` : null);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
${refresh > 0 && html`<meta http-equiv="refresh" content="${refresh}">`}
<title>${title} · Mail sandbox</title>
<link rel="stylesheet" href="/inbox/style.css">
<link rel="icon" href="data:,">
</head>
<body${wide && html` class="wide"`}>
<a class="skip" href="#main">Skip to content</a>
<header class="top">
<strong>Posthorn mail sandbox</strong>
<nav aria-label="Main">
<a href="/"${current('inbox')}>Inbox</a>
<a href="/inbound"${current('inbound')}>Receive email</a>
</nav>
</header>
<main id="main">${body}</main>
<footer>Messages stay on this machine and are never delivered.</footer>
</body>
</html>
`.markup;
}

/** An instant in a readable form, exact to the second in UTC for machines and on hovering. */
export function moment(at: number): Html {
  const iso = new Date(at).toISOString();
  const readable = `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
  return html`<time datetime="${iso}">${readable}</time>`;
}

/** A page that says what went wrong. */
export function errorPage(title: string, text: string): string {
  return layout({ title, body: html`<h1>${title}</h1><p>${text}</p><p><a href="/">Back to the inbox</a></p>` });
}

import { type Html, html } from './html.ts';
import { layout } from './layout.ts';
import { type ListView, listPane } from './list.ts';

// Shown by the script, without which there are none.
const shortcuts = html`<div class="keys" id="keys" hidden>
<p><kbd>j</kbd> <kbd>k</kbd> or <kbd>↓</kbd> <kbd>↑</kbd> next and previous message, <kbd>Enter</kbd> read, <kbd>Esc</kbd> back to the list, <kbd>/</kbd> search</p>
<button type="button" id="keys-switch">Turn off letter shortcuts</button>
</div>`;

/** What stands beside the list. */
export interface Reading {
  /** The page's title. */
  title: string;
  /** The message that is shown, or empty. */
  messageId: string;
  /** Which of both a narrow screen shows. */
  narrow: 'list' | 'message' | 'both';
  body: Html;
}

/** The list and what is read, side by side on wide screens. The script replaces the latter (`#reading`) as a whole. */
export function mailPage(list: ListView, { title, messageId, narrow, body }: Reading): string {
  return layout({
    title,
    here: 'inbox',
    refresh: list.refresh ? 5 : 0,
    mail: true,
    footer: shortcuts,
    body: html`<div class="hidden" id="news" role="status"></div>
${listPane(list, messageId)}
<section class="pane" id="reading" aria-label="Message" data-message="${messageId}" data-narrow="${narrow}">${body}</section>`,
  });
}

/** The inbox while no message is open: how to send one while it is empty. `snippet` is a command for a shell. */
export function inboxPage(list: ListView, snippet: { text: string; needsKey: boolean }): string {
  const { totals, unread } = list;
  const isEmpty = totals.stored === 0;
  return mailPage(list, {
    title: unread > 0 ? `(${unread}) Inbox` : 'Inbox',
    messageId: '',
    narrow: isEmpty ? 'both' : 'list',
    body: isEmpty ? firstEmail(snippet) : html`<p class="muted center">Select a message to read it here.</p>`,
  });
}

function firstEmail({ text, needsKey }: { text: string; needsKey: boolean }): Html {
  return html`<section class="card" aria-labelledby="empty"><h2 id="empty">No messages yet</h2>
<p>Send a first email${needsKey && ' with a secret key of your project'}<noscript>, then reload this page</noscript>:</p>
<pre id="snippet">${text}</pre>
<p class="muted">Every email that your project sends appears here. None is delivered.</p></section>`;
}

import { type Entry, statusOf } from '../store/entry.ts';
import {
  breakable,
  type Html,
  html,
  layout,
  listAddress,
  messageAddress,
  moment,
  type Place,
  withParameters,
} from './layout.ts';

/** The view of the list. */
export interface ListView {
  entries: readonly Entry[];
  /** How many messages match the search from this place on. */
  total: number;
  place: Place;
  /** Whether the page reloads by itself, for browsers without scripts. */
  refresh: boolean;
  totals: { accepted: number; stored: number };
  unread: number;
  /** The state of the store that this is. */
  version: string;
  /** All messages were just deleted. */
  deleted: boolean;
}

const inNumbers = new Intl.NumberFormat('en-US');
const pluralOf = new Intl.PluralRules('en-US');

/** The inbox: a search, one page of messages, newest first, and what can be done with all of them. */
function listPane(view: ListView, shownId: string): Html {
  const { entries, total, place, totals, deleted, version } = view;
  return html`<section class="pane" id="list" aria-labelledby="inbox" data-address="${listAddress(place)}" data-total="${total}" data-version="${version}">
<div class="heading"><h1 id="inbox">Inbox</h1><p id="live" class="muted" hidden></p></div>
${deleted && html`<p class="notice" role="status">All messages were deleted.</p>`}
<form class="bar" method="get" action="/" role="search">
<div class="grow"><label for="q">Search subject, sender, recipient or tag</label>
<input type="search" id="q" name="q" value="${place.query}"></div>
<button>Search</button>
${place.query !== '' && html`<a class="button" href="/">Clear search</a>`}
</form>
<p class="muted" id="counts">${counts(view)}</p>
<noscript><p class="muted">${reloading(view)}</p></noscript>
<p class="news"><button type="button" id="to-newest" hidden></button></p>
<nav aria-label="Messages"><ol id="rows">${entries.map((entry) => row(entry, place, entry.id === shownId))}</ol></nav>
<p id="none"${(entries.length > 0 || totals.stored === 0) && html` hidden`}>${nothingFound(place)}</p>
<nav class="bar" id="pages" aria-label="Pages">${pages(view)}</nav>
<div class="bar" id="actions"${totals.stored === 0 && html` hidden`}>
<form method="post" action="${withParameters('/inbox/read-all', { q: place.query, before: place.before })}"><button>Mark all as read</button></form>
<details><summary>Delete all messages</summary>
<form method="post" action="/inbox/delete-all"><p>This cannot be undone.</p>
<button class="danger">Delete all messages</button></form></details>
</div>
</section>`;
}

/** The status of a message, colored by whether it is good or bad news. */
export function statusMark(entry: Entry): Html {
  const last = entry.events.at(-1)?.type;
  const bad = last === 'hardBounce' || last === 'softBounce' || last === 'complaint' || last === 'unsubscribe';
  const kind = bad ? 'bad' : last ? 'good' : 'new';
  return html`<span class="state ${kind}">${statusOf(entry)}</span>`;
}

/** A number of things, such as `1 message` or `1,200 messages`. */
function counted(count: number, one: string, other: string): string {
  return `${inNumbers.format(count)} ${pluralOf.select(count) === 'one' ? one : other}`;
}

function counts({ total, totals, unread, place }: ListView): string {
  return [
    `${inNumbers.format(unread)} unread`,
    counted(totals.stored, 'message', 'messages'),
    ...(totals.accepted > totals.stored ? [`${inNumbers.format(totals.accepted)} accepted in total`] : []),
    ...(place.query === '' ? [] : [`${inNumbers.format(total)} found${place.before === '' ? '' : ' from here on'}`]),
  ].join(' · ');
}

function reloading({ refresh, place }: ListView): Html {
  if (refresh) return html`This page reloads every 5 seconds. <a href="${listAddress(place)}">Stop reloading</a>`;
  return html`<a href="${withParameters('/', { q: place.query, refresh: '1' })}">Reload every 5 seconds</a>`;
}

function row(entry: Entry, place: Place, shown: boolean): Html {
  const to = entry.to.map(({ email }) => email).join(', ');
  const { attachments, tag, read } = entry;
  return html`<li data-id="${entry.id}"${!read && html` class="unread"`}><a href="${messageAddress(entry.id, place)}"${
    shown && html` aria-current="true"`
  }>${entry.subject.trim() || '(no subject)'}${!read && html`<span class="hidden">, unread</span>`}</a>
<div class="details"><div class="to">${breakable(to)}</div><div class="muted">${statusMark(entry)} ${moment(entry.at, 'short')}${
    tag !== '' && html` <span>${tag}</span>`
  }${attachments.length > 0 && html` <span>${counted(attachments.length, 'attachment', 'attachments')}</span>`}</div></div></li>
`;
}

function nothingFound({ query, before }: Place): string {
  if (query === '') return before === '' ? 'No messages yet.' : 'No older messages.';
  return `No ${before === '' ? '' : 'older '}message matches “${query}”.`;
}

function pages({ entries, total, place }: ListView): Html {
  const last = entries.at(-1);
  const older = last && total > entries.length ? listAddress({ ...place, before: last.id }) : null;
  return html`${place.before !== '' && html`<a class="button" href="${listAddress({ ...place, before: '' })}">Newest</a>`}
${older && html`<a class="button" href="${older}" rel="next">Older</a>`}`;
}

/** The view of the form for a received mail. */
interface InboundView {
  values: { from: string; to: string; subject: string; text: string; html: string; spam: boolean };
  notice: { text: string; bad: boolean } | null;
}

/** The form that makes a mail arrive, as if someone had written to one of the project's addresses. */
export function inboundPage({ values, notice }: InboundView): string {
  const body = html`
<h1>Receive email</h1>
<p class="muted">Posts an email to the inbound webhook, as if it had arrived from outside.</p>
${notice && html`<p class="notice${notice.bad && ' bad'}" role="status">${notice.text}</p>`}
<form class="card" method="post" action="/inbound">
<p><label for="from">From</label><input type="text" id="from" name="from" required value="${values.from}" placeholder="Ada Lovelace &lt;ada@example.com&gt;"></p>
<p><label for="to">To</label><input type="text" id="to" name="to" required value="${values.to}" placeholder="support@fernpost.test"></p>
<p><label for="subject">Subject</label><input type="text" id="subject" name="subject" value="${values.subject}"></p>
<p><label for="text">Text</label><textarea id="text" name="text" rows="5">${values.text}</textarea></p>
<p><label for="html">HTML (optional)</label><textarea id="html" name="html" rows="3">${values.html}</textarea></p>
<p><input type="checkbox" id="spam" name="spam" value="1"${values.spam && html` checked`}>
<label class="beside" for="spam">Mark as spam</label></p>
<button class="main">Receive email</button>
</form>`;
  return layout({ title: 'Receive email', here: 'inbound', body });
}

// Shown by the script, without which there are none.
const shortcuts = html`<div class="keys" id="keys" hidden>
<p><kbd>j</kbd> <kbd>k</kbd> or <kbd>↓</kbd> <kbd>↑</kbd> next and previous message, <kbd>Enter</kbd> read, <kbd>Esc</kbd> back to the list, <kbd>/</kbd> search</p>
<button type="button" id="keys-switch">Turn off letter shortcuts</button>
</div>`;

/** The pane beside the list. */
interface Reading {
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

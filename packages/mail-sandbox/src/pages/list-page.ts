import { type Entry, statusOf } from '../entry.ts';
import { type Html, html } from './html.ts';
import { layout, moment } from './layout.ts';
import { messageAddress, type Place, withParameters } from './place.ts';

/** What the list shows. */
export interface ListView {
  entries: readonly Entry[];
  /** How many messages match the search from this page on. */
  total: number;
  query: string;
  /** The id before which this page starts; empty on the first page. */
  before: string;
  refresh: boolean;
  totals: { accepted: number; stored: number };
  deleted: boolean;
}

const snippet = `curl http://localhost:3000/v1/send \\
  -H "Authorization: Bearer $SECRET_KEY" -H 'Content-Type: application/json' \\
  -d '{ "to": "ada@example.com", "from": "hello@posthorn.test", "subject": "Hello", "body": "<p>Welcome!</p>" }'`;

/** The inbox: a search, one page of messages, newest first, and the button that deletes all. */
export function listPage(view: ListView): string {
  const { entries, total, query, before, refresh, totals } = view;
  const last = entries.at(-1);
  const older = last && total > entries.length ? address({ q: query, before: last.id }) : null;
  const body = html`
<h1>Inbox</h1>
${view.deleted && html`<p class="notice" role="status">All messages were deleted.</p>`}
<form class="bar" method="get" action="/" role="search">
<div class="grow"><label for="q">Search subject, sender, recipient or tag</label>
<input type="search" id="q" name="q" value="${query}"></div>
<button class="main">Search</button>
${query !== '' && html`<a class="button" href="/">Clear search</a>`}
</form>
<p class="muted">${totals.stored} kept, ${totals.accepted} accepted in total.
${query !== '' && html`${total} match “${query}”${before !== '' && ' from here on'}. `}
${
  refresh
    ? html`This page reloads every 5 seconds. <a href="${address({ q: query })}">Stop reloading</a>`
    : html`<a href="${address({ q: query, refresh: '1' })}">Reload every 5 seconds</a>`
}</p>
${entries.length > 0 ? table(entries, { query, before }) : empty(query)}
${
  (before !== '' || older) &&
  html`<nav class="bar" aria-label="Pages">
${before !== '' && html`<a class="button" href="${address({ q: query })}">Newest</a>`}
${older && html`<a class="button" href="${older}" rel="next">Older</a>`}
</nav>`
}
${
  totals.stored > 0 &&
  html`<details><summary>Delete all messages</summary>
<form method="post" action="/inbox/delete-all"><p>This cannot be undone.</p>
<button class="danger">Delete all messages</button></form></details>`
}`;
  return layout({ title: 'Inbox', here: 'inbox', refresh: refresh ? 5 : 0, body });
}

/** The status of a message, coloured by whether it is good or bad news. */
export function statusMark(entry: Entry): Html {
  const last = entry.events.at(-1)?.type;
  const bad = last === 'hardBounce' || last === 'softBounce' || last === 'complaint' || last === 'unsubscribe';
  const kind = bad ? 'bad' : last ? 'good' : 'new';
  return html`<span class="state ${kind}">${statusOf(entry)}</span>`;
}

function table(entries: readonly Entry[], place: Place): Html {
  return html`<div class="list"><table>
<caption class="hidden">Messages, newest first</caption>
<thead><tr><th scope="col">Status</th><th scope="col">To</th><th scope="col">Subject</th><th scope="col">From</th><th scope="col">Accepted</th></tr></thead>
<tbody>${entries.map((entry) => row(entry, place))}</tbody>
</table></div>`;
}

function row(entry: Entry, place: Place): Html {
  const to = entry.to.map(({ email }) => email).join(', ');
  return html`<tr>
<td>${statusMark(entry)}</td>
<td>${to}</td>
<td><a href="${messageAddress(entry.id, place)}">${entry.subject.trim() || '(no subject)'}</a>
${entry.tag !== '' && html` <span class="muted">${entry.tag}</span>`}
${entry.attachments.length > 0 && html` <span class="muted">${attachmentCount(entry.attachments.length)}</span>`}</td>
<td>${entry.from}</td>
<td class="when">${moment(entry.at)}</td>
</tr>
`;
}

function attachmentCount(count: number): string {
  return count === 1 ? '1 attachment' : `${count} attachments`;
}

function empty(query: string): Html {
  if (query !== '') return html`<p class="card">No message matches “${query}”.</p>`;
  return html`<section class="card" aria-labelledby="empty"><h2 id="empty">No messages yet</h2>
<p>Send a first email with a secret key of your project, then reload this page:</p>
<pre>${snippet}</pre></section>`;
}

function address(parameters: Record<string, string>): string {
  return withParameters('/', parameters);
}

import type { Entry } from '../entry.ts';
import { type Html, html } from './html.ts';
import { moment } from './layout.ts';
import { statusMark } from './list-page.ts';
import { listAddress, messageAddress, type Place } from './place.ts';

/** What the list beside a message shows. */
export interface BesideView {
  entries: readonly Entry[];
  /** How many messages match the search from this place on. */
  total: number;
  place: Place;
}

/** The page of the list a message was opened from, beside it on wide screens; the message itself is marked. */
export function listBeside({ entries, total, place }: BesideView, shownId: string): Html {
  const last = entries.at(-1);
  const older = last && total > entries.length ? listAddress({ ...place, before: last.id }) : null;
  return html`<div class="beside">
<form class="bar" method="get" action="/" role="search">
<div class="grow"><label for="q">Search messages</label>
<input type="search" id="q" name="q" value="${place.query}"></div>
<button>Search</button>
</form>
<nav aria-label="Messages"><ol>${entries.map((entry) => item(entry, place, entry.id === shownId))}</ol>
${older && html`<a href="${older}">Older</a>`}</nav>
</div>`;
}

function item(entry: Entry, place: Place, shown: boolean): Html {
  const to = entry.to.map(({ email }) => email).join(', ');
  return html`<li><a href="${messageAddress(entry.id, place)}"${shown && html` aria-current="true"`}>${
    entry.subject.trim() || '(no subject)'
  }</a><div>${to}</div><div class="muted">${statusMark(entry)} ${moment(entry.at)}</div></li>
`;
}

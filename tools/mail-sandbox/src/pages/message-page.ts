import type { Mailbox } from '../message/addresses.ts';
import { messageHeaders, messageSource } from '../message/source.ts';
import type { EventType, SubmittedMessage } from '../schema.ts';
import { type Entry, eventName, type MailEvent } from '../store/entry.ts';
import {
  breakable,
  type Html,
  html,
  listAddress,
  messageAddress,
  moment,
  type Place,
  withParameters,
} from './layout.ts';
import { type ListView, mailPage, statusMark } from './list.ts';

/** Which rendering of the message is shown. */
export type View = 'html' | 'text' | 'headers' | 'source';

/** The color scheme the HTML is previewed in; `system` is the reader's own. */
export type Scheme = 'system' | 'light' | 'dark';

/** The view of one message. */
export interface MessageView {
  entry: Entry;
  message: SubmittedMessage;
  view: View;
  /** Whether remote images of the HTML are loaded. */
  images: boolean;
  scheme: Scheme;
  notice: { text: string; bad: boolean } | null;
  webhooks: boolean;
  /** The page of the list that the message was opened from. */
  place: Place;
}

const buttons: readonly (readonly [EventType, string])[] = [
  ['open', 'Open'],
  ['click', 'Click'],
  ['hardBounce', 'Hard bounce'],
  ['softBounce', 'Soft bounce'],
  ['complaint', 'Complaint'],
  ['unsubscribe', 'Unsubscribe'],
];

const schemes: readonly (readonly [Scheme, string])[] = [
  ['system', 'System'],
  ['light', 'Light'],
  ['dark', 'Dark'],
];

/** One message: its facts, HTML in a frame without rights, text, headers, source, attachments, events and buttons for more. */
export function messagePage(list: ListView, page: Omit<MessageView, 'place'>): string {
  const title = page.entry.subject.trim() || '(no subject)';
  const body = messageBody(title, { ...page, place: list.place });
  return mailPage(list, { title, messageId: page.entry.id, narrow: 'message', body });
}

function messageBody(subject: string, page: MessageView): Html {
  const { entry, message, notice } = page;
  return html`<p class="back"><a href="${listAddress(page.place)}">All messages</a></p>
<h1 id="subject" tabindex="-1">${subject}</h1>
${notice && html`<p class="notice${notice.bad && ' bad'}" role="status">${notice.text}</p>`}
<div class="card">${facts(entry, message)}</div>
${tabs(page)}
${shown(page)}
${message.Attachments?.length ? attachments(entry, message.Attachments) : null}
<div id="events">${events(entry)}</div>
${deeds(page)}`;
}

function facts(entry: Entry, message: SubmittedMessage): Html {
  return html`${definitions([
    ['Status', html`<span id="status">${statusMark(entry)}</span>`],
    ['From', addresses(entry.from)],
    ['To', mailboxes(entry.to)],
    ['Cc', mailboxes(entry.cc)],
    ['Bcc', mailboxes(entry.bcc)],
    ['Reply-to', addresses(message.ReplyTo ?? '')],
    ['Accepted', moment(entry.at)],
  ])}
<details class="more"><summary>IDs and metadata</summary>${definitions([
    ['Message stream', entry.stream],
    ['Tag', entry.tag],
    ['Metadata', pairs(Object.entries(entry.metadata))],
    ['Message ID', entry.id],
  ])}</details>`;
}

function definitions(rows: readonly [string, Html | string][]): Html {
  const filled = rows.filter(([, value]) => value !== '');
  return html`<dl class="facts">${filled.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

function mailboxes(list: readonly Mailbox[]): Html | string {
  return addresses(list.map(({ email, name }) => (name === '' ? email : `${name} <${email}>`)).join(', '));
}

function addresses(text: string): Html | string {
  return text === '' ? '' : breakable(text);
}

function pairs(entries: readonly [string, string][]): Html | string {
  if (entries.length === 0) return '';
  return html`${entries.map(([name, value]) => html`<div>${name} = ${value}</div>`)}`;
}

function tabs({ entry, message, view, place }: MessageView): Html {
  const names: [View, string, boolean][] = [
    ['html', 'HTML', Boolean(message.HtmlBody)],
    ['text', 'Text', Boolean(message.TextBody)],
    ['headers', 'Headers', true],
    ['source', 'Source', true],
  ];
  const items = names.filter(([, , present]) => present);
  return html`<nav aria-label="Renderings"><ul class="tabs">${items.map(
    ([name, label]) =>
      html`<li><a href="${messageAddress(entry.id, place, { view: name })}"${name === view && html` aria-current="page"`}>${label}</a></li>`,
  )}</ul></nav>`;
}

function shown(page: MessageView): Html {
  const { entry, message, view } = page;
  if (view === 'text') return html`<div class="card"><pre>${message.TextBody ?? ''}</pre></div>`;
  if (view === 'headers') return headers(entry, message);
  if (view === 'source') {
    return html`<p><a href="/inbox/${entry.id}/source.eml" download>Download as .eml</a></p>
<div class="card"><pre>${shortened(messageSource(entry, message))}</pre></div>`;
  }
  return preview(page);
}

function headers(entry: Entry, message: SubmittedMessage): Html {
  const rows = messageHeaders(entry, message);
  return html`<div class="list"><table><caption class="hidden">Headers, in the order of the source</caption>
<thead><tr><th scope="col">Header</th><th scope="col">Value</th></tr></thead>
<tbody>${rows.map(([name, value]) => html`<tr><th scope="row">${name}</th><td>${value}</td></tr>`)}</tbody></table></div>`;
}

function preview({ entry, images, scheme, place }: MessageView): Html {
  const address = (changed: { images?: boolean; scheme?: Scheme }) => {
    const wanted = { images, scheme, ...changed };
    return messageAddress(entry.id, place, {
      view: 'html',
      images: wanted.images ? '1' : '',
      scheme: wanted.scheme === 'system' ? '' : wanted.scheme,
    });
  };
  return html`<nav aria-label="Preview theme"><ul class="choices">${schemes.map(
    ([name, label]) =>
      html`<li><a href="${address({ scheme: name })}"${name === scheme && html` aria-current="true"`}>${label}</a></li>`,
  )}</ul></nav>
<iframe class="${scheme}" title="HTML version" src="/inbox/${entry.id}/html${images && '?images=1'}"
sandbox="allow-popups allow-popups-to-escape-sandbox" referrerpolicy="no-referrer"></iframe>
<p class="muted">${
    images
      ? html`Remote images are loaded. <a href="${address({ images: false })}">Block images</a>`
      : html`Remote images are blocked. <a href="${address({ images: true })}">Load images</a>`
  }</p>`;
}

// A page of forty megabytes helps nobody; the download has all of it.
function shortened(source: string): string {
  const limit = 500_000;
  return source.length > limit ? `${source.slice(0, limit)}\n… shortened. Download it to see all` : source;
}

function attachments(entry: Entry, list: NonNullable<SubmittedMessage['Attachments']>): Html {
  return html`<h2>Attachments</h2><ul>${list.map(
    ({ Name, ContentType, Content }, i) => html`<li><a href="/inbox/${entry.id}/attachments/${i}" download>${Name}</a>
<span class="muted">${ContentType}, ${kilobytes(Content.length)} kB</span></li>`,
  )}</ul>`;
}

function kilobytes(base64Length: number): string {
  return ((base64Length * 0.75) / 1000).toFixed(1);
}

function events(entry: Entry): Html {
  return html`<h2>Events</h2>
${
  entry.events.length === 0
    ? html`<p class="muted">No events yet.</p>`
    : html`<div class="list"><table><caption class="hidden">Events, oldest first</caption>
<thead><tr><th scope="col">Event</th><th scope="col">Recipient</th><th scope="col">Time</th><th scope="col">Webhook</th></tr></thead>
<tbody>${entry.events.map(eventRow)}</tbody></table></div>`
}`;
}

function deeds({ entry, webhooks, place }: MessageView): Html {
  return html`<h2>Simulate events</h2>
<form method="post" action="${withParameters(`/inbox/${entry.id}/events`, { q: place.query, before: place.before })}">
<div class="buttons" role="group" aria-label="Events to simulate">${buttons.map(
    ([type, label]) => html`<button name="type" value="${type}">${label}</button>`,
  )}</div></form>
${!webhooks && html`<p class="muted">No webhook URL is set. Events are only recorded here.</p>`}`;
}

function eventRow(event: MailEvent): Html {
  return html`<tr><td>${eventName(event.type)}${event.link && html`<br><span class="muted">${event.link}</span>`}</td>
<td>${breakable(event.recipient)}</td><td class="when">${moment(event.at)}</td><td>${webhookText(event)}</td></tr>`;
}

function webhookText({ webhook }: MailEvent): string {
  if (!webhook) return '';
  if (webhook.attempts === 0 && webhook.answer === '') return 'waiting';
  const attempts = webhook.attempts === 1 ? '1 attempt' : `${webhook.attempts} attempts`;
  return `${webhook.state}: ${webhook.answer}, ${attempts}`;
}

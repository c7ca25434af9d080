import { isWide, listAddress, listScroller, markShown, mergeList, shownLink } from './list.js';
import { loadPage, part } from './load.js';
import { localizeTimes } from './times.js';

/** @typedef {'subject' | 'row' | 'same'} Focus where the focus goes: the message, its row, or what had it before */

// Where a narrow screen had the list before a message took its place.
let listTop = 0;
let visits = new AbortController();
let shownAddress = window.location.pathname + window.location.search;

/** The message that is shown, or empty. */
export function shownId() {
  return part(document, 'reading').dataset.message ?? '';
}

/**
 * Shows a message, or no message, beside the list as it is. What cannot be shown so is opened as a page.
 *
 * @param {string} address
 * @param {{ focus: Focus, history?: 'push' | 'replace' | 'none', form?: URLSearchParams }} how
 */
export async function visit(address, { focus, history = 'push', form }) {
  visits.abort();
  visits = new AbortController();
  const { signal } = visits;
  let loaded;
  try {
    loaded = await loadPage(address, { ...(form ? { form } : {}), signal });
  } catch {
    if (!signal.aborted) openWhole(address, form !== undefined || history === 'none');
    return;
  }
  if (signal.aborted) return;
  const { page, url } = loaded;
  localizeTimes(page);
  const later = page.getElementById('reading');
  if (!later || !mergeList(page)) return openWhole(url, form !== undefined || history === 'none');
  // A form is answered by the address of what it was sent from: going back leads to before both.
  if (form || url === window.location.href) window.history.replaceState(null, '', url);
  else if (history === 'push') window.history.pushState(null, '', url);
  else if (history === 'replace') window.history.replaceState(null, '', url);
  document.title = page.title;
  shownAddress = window.location.pathname + window.location.search;
  show(later, focus);
}

/** Shows what the address says after going back or forward, unless only the part behind its `#` is another one. */
export function visitAddress() {
  if (window.location.pathname + window.location.search !== shownAddress)
    void visit(window.location.href, { focus: 'row', history: 'none' });
}

/**
 * Lets the browser show an address, or its own error.
 *
 * @param {string} address
 * @param {boolean} isHere whether it stands in the bar already; so it does after a form, which is not sent again: what it has done is
 *   on the page
 */
function openWhole(address, isHere) {
  if (isHere) window.location.reload();
  else window.location.assign(address);
}

/**
 * @param {HTMLElement} later
 * @param {Focus} focus
 */
function show(later, focus) {
  const reading = part(document, 'reading');
  const wasOpen = reading.dataset.narrow === 'message';
  const isOther = reading.dataset.message !== later.dataset.message;
  if (!wasOpen && !isWide()) listTop = listScroller().scrollTop;
  const held = heldBy(reading);
  const closed = shownLink();
  reading.replaceWith(later);
  markShown(later.dataset.message ?? '');
  if (!isWide()) window.scrollTo(0, later.dataset.narrow === 'message' ? (isOther ? 0 : window.scrollY) : listTop);
  const row = shownLink() ?? closed;
  const isRowHidden = !isWide() && later.dataset.narrow === 'message';
  if (focus === 'subject' || (focus === 'row' && isRowHidden)) focusSubject();
  else if (focus === 'row') row?.focus({ preventScroll: true });
  else if (held !== null) refocus(later, held);
  if (isWide() || focus === 'row') row?.scrollIntoView({ block: 'nearest' });
}

/**
 * @param {HTMLElement} reading
 * @param {string} held
 */
function refocus(reading, held) {
  const same = /** @type {HTMLElement | null} */ (reading.querySelector(held));
  if (same) same.focus({ preventScroll: true });
  else focusSubject();
}

/** Puts the focus on the message that is shown. */
export function focusSubject() {
  document.getElementById('subject')?.focus({ preventScroll: true });
}

/**
 * How to find again what has the focus, or null when it is elsewhere.
 *
 * @param {HTMLElement} reading
 * @returns {string | null}
 */
function heldBy(reading) {
  const active = document.activeElement;
  if (!active || !reading.contains(active)) return null;
  if (active instanceof HTMLButtonElement) return `button[value="${CSS.escape(active.value)}"]`;
  return active instanceof HTMLAnchorElement
    ? `a[href="${CSS.escape(active.getAttribute('href') ?? '')}"]`
    : '#subject';
}

/**
 * Takes over what has changed since: the list, and what has happened to the message. What is read stays as it is, also when its
 * message was deleted.
 */
export async function refresh() {
  const { page } = await loadPage(window.location.href);
  localizeTimes(page);
  const later = page.getElementById('reading');
  if (!later) {
    const list = await loadPage(listAddress());
    localizeTimes(list.page);
    mergeList(list.page);
    return;
  }
  if (!mergeList(page)) return;
  const id = shownId();
  if (later.dataset.message !== id) return;
  markShown(id);
  if (id === '') {
    const reading = part(document, 'reading');
    document.title = page.title;
    if (!reading.isEqualNode(later)) reading.replaceWith(later);
  } else {
    for (const changing of ['status', 'events']) {
      const old = part(document, changing);
      if (!old.isEqualNode(part(page, changing))) old.replaceChildren(...part(page, changing).childNodes);
    }
  }
}

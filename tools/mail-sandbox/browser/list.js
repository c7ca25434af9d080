import { part } from './load.js';

// Rows that have left the server's page stay below it, up to this many.
const mostRows = 200;
const wide = window.matchMedia('(min-width: 64rem)');

const list = part(document, 'list');
const rows = part(document, 'rows');
const toNewest = /** @type {HTMLButtonElement} */ (part(document, 'to-newest'));
let unseen = 0;

/** Whether list and message are side by side. */
export function isWide() {
  return wide.matches;
}

/** The address of the page of the list that is shown. */
export function listAddress() {
  return list.dataset.address ?? '/';
}

/** The links of the messages, newest first. */
export function messageLinks() {
  return [...rows.querySelectorAll('a')];
}

/**
 * Marks the message that is shown.
 *
 * @param {string} id or empty
 */
export function markShown(id) {
  for (const link of messageLinks()) {
    if (link.closest('li')?.dataset.id === id) link.setAttribute('aria-current', 'true');
    else link.removeAttribute('aria-current');
  }
}

/** The link of the message that is shown, if it is in the list. */
export function shownLink() {
  return /** @type {HTMLAnchorElement | null} */ (rows.querySelector('[aria-current]'));
}

/**
 * Takes over a later state of the same list. Rows stay the elements they are, and keep their place on the screen and the focus.
 *
 * @param {Document} page
 * @returns {boolean} whether the page is of the same list
 */
export function mergeList(page) {
  const later = page.getElementById('list');
  if (!later || later.dataset.address !== listAddress()) return false;
  for (const id of ['none', 'actions']) part(document, id).hidden = part(page, id).hidden;
  const counts = part(document, 'counts');
  if (counts.textContent !== part(page, 'counts').textContent) counts.textContent = part(page, 'counts').textContent;
  const scroller = listScroller();
  const anchor = scroller.scrollTop > 0 ? firstVisible() : null;
  const before = anchor?.getBoundingClientRect().top ?? 0;
  const total = Number(later.dataset.total);
  const arrived = mergeRows(part(page, 'rows'), total);
  if (anchor?.isConnected) scroller.scrollTop += anchor.getBoundingClientRect().top - before;
  mergePages(part(page, 'pages'), total);
  announce(arrived, anchor !== null);
  return true;
}

/**
 * @param {HTMLElement} later
 * @param {number} total how many messages there are from this place on
 * @returns {HTMLElement[]} the rows that are new on top
 */
function mergeRows(later, total) {
  const known = new Map([...rows.children].map((row) => [/** @type {HTMLElement} */ (row).dataset.id, row]));
  const arrived = [];
  let place = rows.firstElementChild;
  let isTop = true;
  const incoming = /** @type {HTMLElement[]} */ ([...later.children]);
  for (const row of incoming) {
    const old = known.get(row.dataset.id);
    if (old) {
      isTop = false;
      // Both are in the same order: what stands between was deleted.
      place = removeRows(place, old);
      updateRow(old, row);
      place = old.nextElementSibling;
    } else {
      rows.insertBefore(row, place);
      if (isTop) arrived.push(row);
    }
  }
  // With no row in common, messages between both are missing.
  const isGap = arrived.length === incoming.length;
  if (isGap || total <= incoming.length) removeRows(place, null);
  else while (rows.children.length > mostRows) rows.lastElementChild?.remove();
  return arrived;
}

/**
 * @param {Element | null} from
 * @param {Element | null} to
 */
function removeRows(from, to) {
  let row = from;
  while (row && row !== to) {
    const next = row.nextElementSibling;
    const hadFocus = row.contains(document.activeElement);
    row.remove();
    if (hadFocus) (next ?? rows.lastElementChild)?.querySelector('a')?.focus({ preventScroll: true });
    row = next;
  }
  return row;
}

/**
 * @param {Element} row
 * @param {Element} later
 */
function updateRow(row, later) {
  row.className = later.className;
  const [link, details] = row.children;
  const [laterLink, laterDetails] = later.children;
  if (!link || !details || !laterLink || !laterDetails) return;
  if (link.textContent !== laterLink.textContent) link.replaceChildren(...laterLink.childNodes);
  if (!details.isEqualNode(laterDetails)) details.replaceWith(laterDetails);
}

/**
 * @param {HTMLElement} later
 * @param {number} total
 */
function mergePages(later, total) {
  const pages = part(document, 'pages');
  const older = /** @type {HTMLAnchorElement | null} */ (later.querySelector('[rel=next]'));
  const last = /** @type {HTMLElement | null} */ (rows.lastElementChild);
  if (older && last && rows.children.length < total) {
    const address = new URL(older.href);
    address.searchParams.set('before', last.dataset.id ?? '');
    older.href = address.pathname + address.search;
  } else older?.remove();
  if (!pages.isEqualNode(later) && !pages.contains(document.activeElement)) pages.replaceChildren(...later.childNodes);
}

/**
 * Tells screen readers of new mail, and everybody else when it is out of sight.
 *
 * @param {HTMLElement[]} arrived
 * @param {boolean} isOutOfSight
 */
function announce(arrived, isOutOfSight) {
  const [newest] = arrived;
  if (!newest) return;
  const said = document.createElement('p');
  const subject = newest.querySelector('a')?.firstChild?.textContent;
  const to = newest.querySelector('.to')?.textContent;
  said.textContent = arrived.length === 1 ? `New message: ${subject}, to ${to}` : `${arrived.length} new messages`;
  part(document, 'news').replaceChildren(said);
  if (!isOutOfSight) return;
  unseen += arrived.length;
  toNewest.textContent = unseen === 1 ? '1 new message' : `${unseen} new messages`;
  toNewest.hidden = false;
}

/** Returns the element that scrolls the list. */
export function listScroller() {
  return isWide() ? list : (document.scrollingElement ?? document.documentElement);
}

function firstVisible() {
  const top = isWide() ? list.getBoundingClientRect().top : 0;
  return [...rows.children].find((row) => row.getBoundingClientRect().bottom > top) ?? null;
}

/** Sets up the button that leads to new mail out of sight. */
export function setUpNewest() {
  toNewest.addEventListener('click', () => {
    listScroller().scrollTop = 0;
    seen();
    messageLinks()[0]?.focus();
  });
  const check = () => {
    if (listScroller().scrollTop === 0) seen();
  };
  list.addEventListener('scroll', check, { passive: true });
  window.addEventListener('scroll', check, { passive: true });
}

function seen() {
  unseen = 0;
  toNewest.hidden = true;
}

import { setUpKeys } from './keys.js';
import { isWide, listAddress, listScroller, setUpNewest, shownLink } from './list.js';
import { followChanges } from './live.js';
import { part } from './load.js';
import { focusSubject, refresh, shownId, visit, visitAddress } from './reading.js';
import { localizeTimes } from './times.js';

// Behavior of the inbox: new mail appears, messages open beside the list, and keys move through it. Without this
// script every page works by links and forms.

const place = `fernpost-inbox-place ${listAddress()}`;

localizeTimes(document);
setUpKeys();
setUpNewest();
keepPlace();
document.addEventListener('click', openBeside);
document.addEventListener('submit', sendBeside);
window.addEventListener('popstate', visitAddress);
followChanges(part(document, 'list').dataset.version ?? '', showState, refreshInTurn());

/** Where the list was when the page was left is where it is after a reload or on the way back. */
function keepPlace() {
  window.history.scrollRestoration = 'manual';
  const isListShown = () => isWide() || shownId() === '';
  if (isListShown()) listScroller().scrollTop = Number(sessionStorage.getItem(place) ?? 0);
  if (isWide()) shownLink()?.scrollIntoView({ block: 'nearest' });
  window.addEventListener('pagehide', () => {
    if (isListShown()) sessionStorage.setItem(place, String(listScroller().scrollTop));
  });
}

/** @param {MouseEvent} event */
function openBeside(event) {
  if (event.defaultPrevented || event.button !== 0) return;
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  if (!link || !leadsBeside(link)) return;
  event.preventDefault();
  const isRow = part(document, 'rows').contains(link);
  // A click that no pointer made is the Enter key, which goes on to the message.
  const isByKey = event.detail === 0;
  if (isRow && isByKey && link.href === window.location.href) return focusSubject();
  void visit(link.href, { focus: isRow ? (isByKey ? 'subject' : 'same') : link.pathname === '/' ? 'row' : 'same' });
}

/**
 * Whether a link leads to another view of this list: to a message of it, or from a message to the list alone.
 *
 * @param {HTMLAnchorElement} link
 */
function leadsBeside({ origin, pathname, search, hash }) {
  if (origin !== window.location.origin || hash !== '') return false;
  return /^\/inbox\/[\w-]+$/.test(pathname) || (shownId() !== '' && pathname + search === listAddress());
}

/** @param {SubmitEvent} event */
function sendBeside(event) {
  const form = /** @type {HTMLFormElement} */ (event.target);
  if (!part(document, 'reading').contains(form)) return;
  event.preventDefault();
  const fields = new URLSearchParams();
  for (const [name, value] of new FormData(form, event.submitter)) fields.append(name, String(value));
  void visit(form.action, { focus: 'same', form: fields });
}

/** @param {boolean} isConnected */
function showState(isConnected) {
  const state = part(document, 'live');
  state.hidden = false;
  state.textContent = isConnected ? 'Live' : 'Reconnecting…';
}

/** One refresh at a time; what changes meanwhile asks for one more. */
function refreshInTurn() {
  let isRunning = false;
  let isStale = false;
  const run = async () => {
    isStale = true;
    if (isRunning) return;
    isRunning = true;
    while (isStale) {
      isStale = false;
      // A sandbox that does not answer tells of its changes when it is back.
      await refresh().catch(() => undefined);
    }
    isRunning = false;
  };
  return run;
}

import { isWide, listAddress, messageLinks, shownLink } from './list.js';
import { part } from './load.js';
import { shownId, visit } from './reading.js';

const stored = 'fernpost-inbox-letters';
// Somebody who holds the key passes messages without opening them.
const restMs = 150;
let hasLetters = localStorage.getItem(stored) !== 'off';
let resting = 0;
let movedAt = -restMs;

/** Sets up the shortcuts. Those of one letter can be turned off, since speech input types letters (WCAG 2.1.4). */
export function setUpKeys() {
  const line = part(document, 'keys');
  const button = part(document, 'keys-switch');
  const label = () => {
    button.textContent = hasLetters ? 'Turn off letter shortcuts' : 'Turn on letter shortcuts';
  };
  label();
  line.hidden = false;
  button.addEventListener('click', () => {
    hasLetters = !hasLetters;
    localStorage.setItem(stored, hasLetters ? 'on' : 'off');
    label();
  });
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (press(event.key)) event.preventDefault();
  });
}

/** @param {EventTarget | null} target */
function isTyping(target) {
  return target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]');
}

/**
 * @param {string} key
 * @returns {boolean} whether it is a shortcut here
 */
function press(key) {
  if (key === 'Escape') return leave();
  if (key === 'ArrowDown' || key === 'ArrowUp') return isInList() && move(key === 'ArrowDown' ? 1 : -1);
  if (!hasLetters) return false;
  if (key === 'j' || key === 'k') return move(key === 'j' ? 1 : -1);
  if (key !== '/') return false;
  if (!isWide() && shownId() !== '') return false;
  part(document, 'q').focus();
  return true;
}

/** Whether arrows are for the list: elsewhere they scroll. */
function isInList() {
  const active = document.activeElement;
  return part(document, 'rows').contains(active) || (isWide() && active === document.body);
}

/**
 * Goes to the next message (1) or the one before (-1), and opens it where messages are beside the list or one is open.
 *
 * @param {1 | -1} step
 * @returns {boolean}
 */
function move(step) {
  const links = messageLinks();
  const active = /** @type {HTMLAnchorElement} */ (document.activeElement);
  const from = links.includes(active) ? active : shownLink();
  const link = from ? links[links.indexOf(from) + step] : links[0];
  const isOpen = shownId() !== '';
  const isReading = isOpen && part(document, 'reading').contains(active);
  clearTimeout(resting);
  if (!link) {
    const older = /** @type {HTMLElement | null} */ (part(document, 'pages').querySelector('[rel=next]'));
    if (step === 1 && (isWide() || !isOpen)) older?.focus();
    return true;
  }
  if (!isReading && (isWide() || !isOpen)) {
    link.focus({ preventScroll: true });
    link.scrollIntoView({ block: 'nearest' });
  }
  const isFast = performance.now() - movedAt < restMs;
  movedAt = performance.now();
  if (!isWide() && !isOpen) return true;
  resting = setTimeout(
    () => {
      const focus = isReading || !isWide() ? 'subject' : 'same';
      void visit(link.href, { focus, history: isOpen ? 'replace' : 'push' });
    },
    isFast ? restMs : 0,
  );
  return true;
}

/** From the message to its row, and from there to the list alone. */
function leave() {
  if (shownId() === '') return false;
  clearTimeout(resting);
  const row = shownLink();
  if (isWide() && row && part(document, 'reading').contains(document.activeElement)) row.focus();
  else void visit(listAddress(), { focus: 'row' });
  return true;
}

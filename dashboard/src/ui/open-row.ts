import type { MouseEvent } from 'react';

/** Elements that react to a click themselves, or whose text can be selected. */
const ownClick = 'a, button, input, select, textarea, label, summary';

/**
 * A click anywhere in a row opens what its main link leads to, in a new tab with the keys that open a link there. The link
 * itself is what the keyboard and screen readers use. Marking text opens nothing.
 */
export function openRow(event: MouseEvent<HTMLElement>): void {
  const { currentTarget: row, target, ctrlKey, metaKey, shiftKey } = event;
  // A dialog that the row has opened lies elsewhere, but its clicks come here too.
  if (!(target instanceof Element) || !row.contains(target) || target.closest(ownClick)) return;
  if (window.getSelection()?.isCollapsed === false) return;
  const click = new window.MouseEvent('click', { bubbles: true, cancelable: true, ctrlKey, metaKey, shiftKey });
  row.querySelector(mainLink)?.dispatchEvent(click);
}

/** The link of a row of a list, which says so, or the one in the first cell of a table. */
const mainLink = 'a[data-main], td:first-child a[href^="/app/"]';

// The language of the page, in the zone of its reader.
const full = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeStyle: 'medium' });
const time = new Intl.DateTimeFormat('en-US', { timeStyle: 'short' });
const day = new Intl.DateTimeFormat('en-US', { month: 'short', day: 'numeric' });
const dayOfYear = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium' });

/**
 * Writes instants in the reader's zone; UTC is shown on hover.
 *
 * @param {ParentNode} root a page as the server wrote it
 */
export function localizeTimes(root) {
  const now = new Date();
  for (const element of root.querySelectorAll('time')) {
    const at = new Date(element.dateTime);
    if (element.title === '') element.title = element.textContent;
    element.textContent = element.dataset.form === 'short' ? shortForm(at, now) : full.format(at);
  }
}

/**
 * @param {Date} at
 * @param {Date} now
 */
function shortForm(at, now) {
  if (at.toDateString() === now.toDateString()) return time.format(at);
  return (at.getFullYear() === now.getFullYear() ? day : dayOfYear).format(at);
}

/**
 * The beginning of a text, of so many UTF-16 units at most and never ending in half of a surrogate pair: half a character is
 * none, and Postgres refuses JSON that holds one.
 */
export function cutText(text: string, length: number): string {
  const cut = text.slice(0, length);
  return cut.isWellFormed() ? cut : cut.slice(0, -1).toWellFormed();
}

/** A text as it stands in a pattern of `like`, where it means itself. */
export function likeText(text: string): string {
  return text.replaceAll(/[\\%_]/g, '\\$&');
}

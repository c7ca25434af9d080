/**
 * Whether a text fits a pattern as a whole: `*` stands for any run of characters, `?` for one, everything else for
 * itself. Takes time in proportion to both lengths at most, whatever the pattern.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  let place = 0;
  let at = 0;
  // Where the last `*` stands, and how much of the text it has taken so far.
  let star = -1;
  let taken = 0;
  while (at < text.length) {
    if (pattern[place] === '*') {
      star = place++;
      taken = at;
    } else if (place < pattern.length && (pattern[place] === '?' || pattern[place] === text[at])) {
      place++;
      at++;
    } else if (star !== -1) {
      place = star + 1;
      at = ++taken;
    } else return false;
  }
  while (pattern[place] === '*') place++;
  return place === pattern.length;
}

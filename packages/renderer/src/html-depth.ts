import { Parser } from 'htmlparser2';

const pieceLength = 4_096;

/**
 * Whether elements nest deeper than `deepest` somewhere in the HTML. A parser looks for the element that an end tag closes
 * among all that are open, so it is given no more once that is known: 100,000 `<div>` would take it minutes.
 */
export function nestsDeeper(html: string, deepest: number): boolean {
  if (!hasOpenings(html, deepest)) return false;
  let depth = 0;
  let greatest = 0;
  const parser = new Parser({
    onopentagname() {
      depth += 1;
      if (depth > greatest) greatest = depth;
    },
    onclosetag() {
      depth -= 1;
    },
  });
  for (let at = 0; at < html.length && greatest <= deepest; at += pieceLength)
    parser.write(html.slice(at, at + pieceLength));
  return greatest > deepest;
}

/** HTML without its tags. */
export function withoutTags(html: string): string {
  return html.replace(/<[^<>]*>?/g, ' ');
}

function hasOpenings(html: string, count: number): boolean {
  const opening = /<[a-z]/gi;
  let found = 0;
  while (found <= count && opening.test(html)) found += 1;
  return found > count;
}

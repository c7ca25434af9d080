/** A piece of a line; `kind` says how it is colored, and is unset for plain text. */
export interface Piece {
  text: string;
  kind?: 'tag' | 'text' | 'comment' | 'doctype' | 'keyword';
}

// In the order in which they are tried, outside of tags and within them.
const outside: readonly (readonly [RegExp, Piece['kind']])[] = [
  [/<!--[\s\S]*?(?:-->|$)/y, 'comment'],
  [/<![^>]*>?/y, 'doctype'],
  [/&#?\w+;/y, 'text'],
];
const within: readonly (readonly [RegExp, Piece['kind']])[] = [
  [/"[^"]*"?|'[^']*'?/y, 'text'],
  [/[^"'>{]+|\{/y, undefined],
];
const liquid = /\{%-?[\s\S]*?(?:%\}|$)|\{\{[\s\S]*?(?:\}\}|$)/y;
const tag = /(<\/?)([A-Za-z][\w:-]*)/y;
const plain = /[^<&{]+|[\s\S]/y;

/** HTML with Liquid as lines of colored pieces, near enough to what the editor makes of it. Its texts are those of `source`. */
export function highlighted(source: string): Piece[][] {
  const lines: Piece[][] = [[]];
  const add = (text: string, kind?: Piece['kind']) => {
    for (const [index, line] of text.split('\n').entries()) {
      if (index > 0) lines.push([]);
      if (line !== '') lines.at(-1)?.push(kind ? { text: line, kind } : { text: line });
    }
  };
  let at = 0;
  let isInTag = false;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(source);
    if (found) at = pattern.lastIndex;
    return found;
  };
  while (at < source.length) {
    const code = take(liquid);
    if (code) {
      addLiquid(code[0], add);
      continue;
    }
    const opened = isInTag ? null : take(tag);
    if (opened) {
      isInTag = true;
      add(opened[1] ?? '');
      add(opened[2] ?? '', 'tag');
      continue;
    }
    const rule = (isInTag ? within : outside).find(([pattern]) => {
      pattern.lastIndex = at;
      return pattern.test(source);
    });
    const text = take(rule?.[0] ?? plain)?.[0] ?? '';
    if (isInTag && text.startsWith('>')) isInTag = false;
    add(text, rule?.[1]);
  }
  return lines;
}

// The name of a Liquid tag, and the texts in it.
function addLiquid(code: string, add: (text: string, kind?: Piece['kind']) => void): void {
  const name = /^\{%-?\s*(\w+)/.exec(code)?.[1] ?? '';
  for (const [index, part] of code.split(/("[^"]*"|'[^']*')/).entries()) {
    const begins = index === 0 && name !== '' ? part.indexOf(name) : -1;
    if (begins === -1) add(part, index % 2 === 1 ? 'text' : undefined);
    else {
      add(part.slice(0, begins));
      add(name, 'keyword');
      add(part.slice(begins + name.length));
    }
  }
}

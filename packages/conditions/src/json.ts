// Ten levels of conditions nest JSON some forty deep; what is left serves values that are objects.
const maxJsonDepth = 64;

/**
 * Refuses, by the place, what Postgres cannot store or what JSON cannot say back: U+0000, halves of
 * surrogate pairs, numbers beyond double precision's range, `__proto__` keys, and nesting without end.
 */
export function refuseUnstorable(input: unknown): void {
  walk(input, []);
}

function walk(value: unknown, path: string[]): void {
  if (path.length > maxJsonDepth) throw conditionFault(path, 'The condition is nested too deeply');
  if (typeof value === 'string') refuseText(value, path);
  if (typeof value === 'number' && !Number.isFinite(value)) throw conditionFault(path, 'The number is too large');
  if (typeof value !== 'object' || value === null) return;
  for (const [key, item] of Object.entries(value)) {
    const place = [...path, key];
    if (key === '__proto__') throw conditionFault(place, 'The key "__proto__" is not allowed');
    refuseText(key, path);
    walk(item, place);
  }
}

function refuseText(text: string, path: string[]): void {
  if (text.includes('\u0000')) throw conditionFault(path, 'Text must not contain the character U+0000');
  if (!text.isWellFormed()) throw conditionFault(path, 'Text must not contain half of a surrogate pair');
}

/** What is wrong with a condition, in words for whoever wrote it. */
export class ConditionFault extends Error {
  override name = 'ConditionFault';
  /** The place in the tree, with dots; empty for the whole. */
  readonly path: string;

  constructor(path: string, message: string) {
    super(path === '' ? message : `${message} (at ${path})`);
    this.path = path;
  }
}

/** The fault at a place in a condition tree. */
export function conditionFault(path: readonly string[], message: string): ConditionFault {
  return new ConditionFault(path.join('.'), message);
}

/**
 * Why a body is refused: it is too large, it cannot be read as what it should be, a string in it holds U+0000, or there is no
 * memory for it at the moment.
 */
export type BodyFault =
  | { kind: 'tooLarge'; limitBytes: number }
  | { kind: 'malformed' }
  | { kind: 'nul'; path: string }
  | { kind: 'busy' };

/** The refusal of a body; its message is for whoever sent it. */
export class BodyError extends Error {
  readonly fault: BodyFault;

  constructor(fault: BodyFault, message: string) {
    super(message);
    this.name = 'BodyError';
    this.fault = fault;
  }
}

/** A body that is larger than its limit. */
export function tooLarge(limitBytes: number): BodyError {
  return new BodyError({ kind: 'tooLarge', limitBytes }, `The body is larger than ${sizeText(limitBytes)}`);
}

/** A body that cannot be read. */
export function malformed(message: string): BodyError {
  return new BodyError({ kind: 'malformed' }, message);
}

/** A body that there is no memory for. */
export function busy(): BodyError {
  return new BodyError({ kind: 'busy' }, 'Too many large requests are in progress');
}

const kilobyte = 1024;
const megabyte = 1024 * 1024;

/** A number of bytes in words: `16 kB`, `50 MB`. */
export function sizeText(bytes: number): string {
  return bytes < megabyte ? `${bytes / kilobyte} kB` : `${bytes / megabyte} MB`;
}

/** Limits of a JSON text, whatever its length. */
export interface JsonLimits {
  /** Objects and arrays within one another. */
  levels: number;
  /** Values of all kinds: members, items, and the objects and arrays that hold them. */
  values: number;
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;

/**
 * Which limit a JSON text exceeds, or null. One pass over the bytes before anything is parsed: a parser makes an object of
 * some fifty bytes from every `{}`. Text that is not JSON gets any answer; the parser refuses it.
 */
export function exceededLimit(json: Uint8Array, limits: JsonLimits): keyof JsonLimits | null {
  let levels = 0;
  let values = 1;
  let inText = false;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at] as number;
    if (inText) {
      if (byte === backslash) at++;
      else if (byte === quote) inText = false;
      continue;
    }
    if (byte === quote) inText = true;
    else if (byte === comma) values++;
    // "[" and "{", "]" and "}" differ in one bit from one another.
    else if ((byte | 0x20) === 0x7b) {
      values++;
      if (++levels > limits.levels) return 'levels';
    } else if ((byte | 0x20) === 0x7d) levels--;
    else continue;
    if (values > limits.values) return 'values';
  }
  return null;
}

/** The dotted path of the first string (key or value) that holds U+0000, or null. However deep the value is, no call nests. */
export function findNul(value: unknown): string | null {
  const open: [path: string, value: unknown][] = [['', value]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [path, inner] = next;
    if (typeof inner === 'string' && inner.includes('\u0000')) return path;
    if (typeof inner !== 'object' || inner === null) continue;
    const entries = Object.entries(inner);
    if (entries.some(([key]) => key.includes('\u0000'))) return path;
    // The last that is put down is the first that is picked up.
    for (const [key, each] of entries.reverse()) open.push([path === '' ? key : `${path}.${key}`, each]);
  }
  return null;
}

/**
 * JSON with a replacement character where a key or string holds half of a surrogate pair. Objects and arrays are changed in
 * place, and however deep they are, no call nests.
 */
export function wellFormed(value: unknown): unknown {
  const root = { value };
  const open: object[] = [root];
  for (let holder = open.pop(); holder !== undefined; holder = open.pop()) {
    for (const [key, inner] of Object.entries(holder)) {
      if (typeof inner === 'object' && inner !== null) open.push(inner);
      const [sound, soundKey] = [typeof inner === 'string' ? inner.toWellFormed() : inner, key.toWellFormed()];
      if (sound === inner && soundKey === key) continue;
      if (soundKey !== key) Reflect.deleteProperty(holder, key);
      // An assignment to `__proto__` would not make a property.
      Object.defineProperty(holder, soundKey, { value: sound, writable: true, enumerable: true, configurable: true });
    }
  }
  return root.value;
}

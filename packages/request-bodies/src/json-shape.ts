/** What a JSON text may hold at most, whatever its length. */
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

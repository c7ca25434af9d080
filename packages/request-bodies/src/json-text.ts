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

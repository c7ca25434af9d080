/**
 * A set of texts that keeps 64 bits of each, in one array, so that a hundred thousand recipients are nothing that a garbage
 * collector has to look at. Two of a million different texts look the same with a chance of 3 in 100 million: then the set is
 * one too small, and a benchmark fails that should not have.
 */
export class HashSet {
  size = 0;
  private slots = new Uint32Array(2 * 4096);

  /** Adds the text that stands between two places of a buffer. */
  add(buffer: Uint8Array, from: number, to: number): void {
    let a = 0xdeadbeef;
    let b = 0x41c6ce57;
    for (let at = from; at < to; at += 1) {
      const byte = buffer[at] as number;
      a = Math.imul(a ^ byte, 0x9e3779b1);
      b = Math.imul(b ^ byte, 0x5f356495);
    }
    a = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ Math.imul(b ^ (b >>> 13), 0xc2b2ae35);
    b = Math.imul(b ^ (b >>> 16), 0x85ebca6b) ^ Math.imul(a ^ (a >>> 13), 0xc2b2ae35);
    // Two zeros mean an empty slot.
    this.put(a >>> 0, b >>> 0 || 1);
  }

  private put(a: number, b: number): void {
    const { slots } = this;
    const last = slots.length - 2;
    let at = (2 * a) & last;
    while (slots[at + 1] !== 0) {
      if (slots[at] === a && slots[at + 1] === b) return;
      at = (at + 2) & last;
    }
    slots[at] = a;
    slots[at + 1] = b;
    this.size += 1;
    if (4 * this.size <= slots.length) return;
    this.slots = new Uint32Array(2 * slots.length);
    this.size = 0;
    for (let old = 0; old < slots.length; old += 2)
      if (slots[old + 1] !== 0) this.put(slots[old] as number, slots[old + 1] as number);
  }
}

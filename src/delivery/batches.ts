/** A run of items that goes to the provider in one call. `start` is the place of its first item in the input. */
export interface Batch<Item> {
  start: number;
  items: Item[];
}

/**
 * Cuts a list into batches of at most so many items and bytes, in order. Items that are larger than `maxBytes` get a
 * batch of their own. `mostBytes` is a cheap upper bound; `exactBytes` is asked only where the bound does not do.
 */
export function cutBatches<Item>(
  items: readonly Item[],
  limits: { maxItems: number; maxBytes: number },
  mostBytes: (item: Item) => number,
  exactBytes: (item: Item) => number,
): Batch<Item>[] {
  const bounds = items.map(mostBytes);
  const sizes = bounds.reduce((sum, size) => sum + size, 0) <= limits.maxBytes ? bounds : items.map(exactBytes);
  const batches: Batch<Item>[] = [];
  let current: Batch<Item> | null = null;
  let bytes = 0;
  items.forEach((item, place) => {
    // One byte for the comma or bracket after the item.
    const size = (sizes[place] ?? 0) + 1;
    if (current === null || current.items.length >= limits.maxItems || bytes + size > limits.maxBytes) {
      current = { start: place, items: [] };
      batches.push(current);
      bytes = 1;
    }
    current.items.push(item);
    bytes += size;
  });
  return batches;
}

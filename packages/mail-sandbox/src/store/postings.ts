type Posting = number | { seqs: number[]; head: number };

/**
 * Finds messages by an exact value of a named field, for example by one key of their metadata: an index from (name, value) to
 * sequence numbers. Adding and removing take constant time, because messages come and go in order: a list only grows at its end
 * and shrinks at its start. A value that occurs once costs no list.
 */
export class Postings {
  private readonly names = new Map<string, Map<string, Posting>>();

  add(name: string, value: string, seq: number): void {
    const values = this.names.get(name) ?? new Map<string, Posting>();
    if (values.size === 0) this.names.set(name, values);
    const posting = values.get(value);
    if (posting === undefined) values.set(value, seq);
    else if (typeof posting === 'object') {
      if (posting.seqs.at(-1) !== seq) posting.seqs.push(seq);
    } else if (posting !== seq) values.set(value, { seqs: [posting, seq], head: 0 });
  }

  /** Messages must be removed oldest first. */
  remove(name: string, value: string, seq: number): void {
    const values = this.names.get(name);
    const posting = values?.get(value);
    if (!values || posting === undefined) return;
    if (typeof posting === 'object') {
      if (posting.seqs[posting.head] !== seq) return;
      posting.head += 1;
      if (posting.head === posting.seqs.length) values.delete(value);
      else if (posting.head > 1024 && posting.head * 2 > posting.seqs.length) {
        posting.seqs.splice(0, posting.head);
        posting.head = 0;
      }
    } else if (posting === seq) values.delete(value);
    if (values.size === 0) this.names.delete(name);
  }

  /** Sequence numbers, oldest first; empty when nothing matches. */
  find(name: string, value: string): readonly number[] {
    const posting = this.names.get(name)?.get(value);
    if (posting === undefined) return [];
    if (typeof posting === 'number') return [posting];
    return posting.head === 0 ? posting.seqs : posting.seqs.slice(posting.head);
  }

  /** How many messages each value of this name has. */
  *counts(name: string): Iterable<[value: string, count: number]> {
    for (const [value, posting] of this.names.get(name) ?? [])
      yield [value, typeof posting === 'number' ? 1 : posting.seqs.length - posting.head];
  }

  clear(): void {
    this.names.clear();
  }
}

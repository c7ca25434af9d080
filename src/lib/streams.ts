import { Readable } from 'node:stream';

/**
 * Streams a text that is read while it is sent. Its first piece is read before: what refuses it is then still an answer with a
 * status of its own, not a body that breaks off.
 */
export async function streamOf(text: AsyncGenerator<string>): Promise<Readable> {
  const first = await text.next();
  return Readable.from(pieces());

  async function* pieces(): AsyncGenerator<string> {
    if (first.done) return;
    yield first.value;
    yield* text;
  }
}

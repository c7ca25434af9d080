import type { OutgoingMessage } from '../mailer.ts';
import { type ChunkPool, Chunks } from './chunk-pool.ts';
import { MessageWriter, mostBytes, type StreamNames } from './postmark-message.ts';

/** A body as it is sent: chunks that are asked for one by one. */
export interface OutgoingBytes extends Iterable<Uint8Array> {
  readonly byteLength: number;
}

const begin = Buffer.from('[');
const comma = Buffer.from(',');
const end = Buffer.from(']');

/** The body of a call of `/email/batch`: a list of messages in JSON, of which every run can be sent as a list of its own. */
export class PostmarkBatch {
  /** Messages in it. */
  count = 0;
  private readonly chunks: Chunks;
  private readonly writer: MessageWriter;
  /** Of each message: the number of its chunk, and where it begins and ends there. */
  private readonly places: number[] = [];

  constructor(claimId: string, streams: StreamNames, pool: ChunkPool) {
    this.chunks = new Chunks(pool);
    this.writer = new MessageWriter(this.chunks, claimId, streams);
  }

  /** Bytes of the list so far, without its end. */
  get byteLength(): number {
    return this.chunks.bytes + this.chunks.at;
  }

  /** Writes a message. Answers its bytes in JSON. */
  add(message: OutgoingMessage): number {
    const { chunks } = this;
    chunks.reserve(mostBytes(message) + this.writer.frameBytes);
    chunks.append(this.count === 0 ? begin : comma);
    const from = chunks.at;
    try {
      this.writer.write(message);
    } catch (error) {
      chunks.at = from - 1;
      throw error;
    }
    this.places.push(chunks.full.length, from, chunks.at);
    this.count += 1;
    return chunks.at - from;
  }

  /** Takes the last message back, which must have been the last thing done. */
  undo(): void {
    const [, from = 1] = this.places.splice(-3);
    this.chunks.at = from - 1;
    this.count -= 1;
  }

  /** Ends the list; to be called once, behind the last message. */
  end(): void {
    this.chunks.reserve(1);
    this.chunks.append(end);
    this.chunks.close();
  }

  /** All of it. */
  whole(): OutgoingBytes {
    const { chunks } = this;
    return { byteLength: chunks.bytes, [Symbol.iterator]: () => chunks.read() };
  }

  /** The messages from one place up to another, as a list. */
  part(from: number, to: number): OutgoingBytes {
    const pieces: Uint8Array[] = [];
    for (let at = from; at < to; ) {
      const chunk = this.places[3 * at] as number;
      const first = at;
      while (at < to && this.places[3 * at] === chunk) at += 1;
      pieces.push(first === from ? begin : comma);
      pieces.push((this.chunks.full[chunk] as Buffer).subarray(this.places[3 * first + 1], this.places[3 * at - 1]));
    }
    pieces.push(end);
    const byteLength = pieces.reduce((sum, piece) => sum + piece.length, 0);
    return { byteLength, [Symbol.iterator]: () => pieces.values() };
  }

  /** Says that nobody reads it any more. */
  release(): void {
    this.chunks.release();
  }
}

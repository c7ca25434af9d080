import { getDefaultHighWaterMark } from 'node:stream';
import type { OutgoingMessage } from '../mailer.ts';
import { MessageWriter, mostBytes, type StreamNames } from './postmark-message.ts';

/** Memory for the bodies of requests, in chunks of one size that are used again and again. */
export interface ChunkPool {
  readonly chunkBytes: number;
  take(): Buffer;
  /** Takes a chunk back that nobody reads any more; one of another size is let go. */
  give(chunk: Buffer): void;
}

/**
 * A body of two megabytes for each batch, allocated and thrown away, makes V8 collect its whole heap for memory that is not
 * even in it, and the kernel map and clear every page anew. `mostKept` bounds what is kept; what is needed beyond comes and
 * goes.
 */
export function createChunkPool(chunkBytes = 512 * 1024, mostKept = 64): ChunkPool {
  const free: Buffer[] = [];
  return {
    chunkBytes,
    take: () => free.pop() ?? Buffer.allocUnsafeSlow(chunkBytes),
    give(chunk) {
      if (chunk.length === chunkBytes && free.length < mostKept) free.push(chunk);
    },
  };
}

// A socket says that a write must wait for it to drain from this size on; below, nobody can tell when the bytes have left.
const tellingBytes = getDefaultHighWaterMark(false);

/** Collects bytes in chunks of a pool. */
export class Chunks {
  /** Where the next byte goes, in `chunk`. */
  at = 0;
  chunk: Buffer = Buffer.alloc(0);
  /** The chunks that are full. */
  readonly full: Buffer[] = [];
  /** Bytes in them. */
  bytes = 0;
  private readonly pool: ChunkPool;
  private readonly pooled: Buffer[] = [];
  private isRead = false;

  constructor(pool: ChunkPool) {
    this.pool = pool;
  }

  /** Makes sure that `chunk` has space for so many bytes after `at`. */
  reserve(bytes: number): void {
    if (this.at + bytes <= this.chunk.length) return;
    this.close();
    this.chunk = bytes <= this.pool.chunkBytes ? this.pool.take() : Buffer.allocUnsafeSlow(bytes);
  }

  /** Writes bytes for which there is space. */
  append(bytes: Buffer): void {
    this.chunk.set(bytes, this.at);
    this.at += bytes.length;
  }

  /** Ends the current chunk. */
  close(): void {
    const { chunk, at } = this;
    this.chunk = Buffer.alloc(0);
    this.at = 0;
    if (at >= tellingBytes) {
      this.full.push(chunk.subarray(0, at));
      this.pooled.push(chunk);
    } else {
      if (at > 0) this.full.push(Buffer.from(chunk.subarray(0, at)));
      this.pool.give(chunk);
    }
    this.bytes += at;
  }

  /** The full chunks, for a writer that asks for the next one when it has written what it has. */
  *read(): Generator<Uint8Array> {
    yield* this.full;
    this.isRead = true;
  }

  /** Gives the chunks back, provided that a writer has come to their end: one that stopped may still be writing. */
  release(): void {
    if (this.isRead) for (const chunk of this.pooled.splice(0)) this.pool.give(chunk);
  }
}

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

import { getDefaultHighWaterMark } from 'node:stream';

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

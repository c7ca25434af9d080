import { getDefaultHighWaterMark } from 'node:stream';

/** Bytes that wait to be sent. Iterating them hands each chunk out once; asking for the next says that it has been written. */
export interface OutgoingBytes extends Iterable<Uint8Array> {
  readonly byteLength: number;
}

/** Memory for bodies that is used again and again. */
export interface ChunkPool {
  readonly chunkBytes: number;
  take(): Buffer;
  give(chunk: Buffer): void;
}

/**
 * A body of two megabytes for each batch, allocated and thrown away, makes V8 collect its whole heap for memory that is not
 * even in it, and the kernel map and clear every page anew. `mostKept` bounds what is kept; what is needed beyond comes and
 * goes.
 */
export function createChunkPool(chunkBytes = 512 * 1024, mostKept = 32): ChunkPool {
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

/** Collects a body in chunks of a pool. Everything up to `end` happens at once, without waiting for anything. */
export class ChunkedBody {
  /** Where the next byte goes, in `chunk`. */
  at = 0;
  chunk: Buffer;
  private readonly pool: ChunkPool;
  private readonly full: Uint8Array[] = [];
  private bytes = 0;

  constructor(pool: ChunkPool) {
    this.pool = pool;
    this.chunk = pool.take();
  }

  /** Sees to it that `chunk` has room for so many bytes behind `at`. */
  reserve(bytes: number): void {
    if (this.at + bytes <= this.chunk.length) return;
    this.close();
    this.chunk = bytes <= this.pool.chunkBytes ? this.pool.take() : Buffer.allocUnsafeSlow(bytes);
  }

  /** Ends the body. Each of its chunks is the pool's again once the reader asks for the next one, and never otherwise. */
  end(): OutgoingBytes {
    this.close();
    const { full, pool, bytes } = this;
    return {
      byteLength: bytes,
      *[Symbol.iterator]() {
        for (let written = full.shift(); written !== undefined; written = full.shift()) {
          yield written;
          if (written.length >= tellingBytes) pool.give(Buffer.from(written.buffer));
        }
      },
    };
  }

  private close(): void {
    const { chunk, at } = this;
    this.at = 0;
    if (at === 0) {
      this.pool.give(chunk);
      return;
    }
    this.bytes += at;
    const written = chunk.subarray(0, at);
    if (at >= tellingBytes) {
      this.full.push(written);
      return;
    }
    this.full.push(Buffer.from(written));
    this.pool.give(chunk);
  }
}

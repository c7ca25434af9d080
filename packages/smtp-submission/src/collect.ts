import type { SMTPServerDataStream } from 'smtp-server';
import { SmtpReply } from './reply.ts';

/** Memory that is set aside for one message. */
export interface MessageMemory {
  /** Asks for as many bytes in all; false when there are not so many left at the moment. */
  growTo(bytes: number): boolean;
  release(): void;
}

/** Bytes that are set aside for a message before its size is known. */
export const firstBytes = 64 * 1024;

/**
 * Reads a message to its end, whatever its size, and keeps no more of it than may be kept. One buffer that grows: a client that sends
 * a byte at a time must not make an object of each.
 * @throws SmtpReply 552 when it is larger than `limit`, 451 when there is no memory for it at the moment
 */
export async function collect(stream: SMTPServerDataStream, limit: number, memory: MessageMemory): Promise<Buffer> {
  let bytes = Buffer.allocUnsafe(Math.min(firstBytes, limit));
  let length = 0;
  let refusal: SmtpReply | null = null;
  for await (const piece of stream as AsyncIterable<Buffer>) {
    if (refusal !== null) continue;
    const needed = length + piece.length;
    if (needed > limit) refusal = tooLarge(limit);
    else if (needed > bytes.length) {
      const size = Math.min(limit, Math.max(2 * bytes.length, needed));
      if (memory.growTo(size)) bytes = Buffer.concat([bytes.subarray(0, length)], size);
      else refusal = new SmtpReply(451, '4.3.1', 'Too many large messages at the moment, try again in a few seconds');
    }
    if (refusal !== null) {
      // The rest is only read past, however slowly it comes: others may have the memory.
      bytes = Buffer.alloc(0);
      memory.release();
      continue;
    }
    piece.copy(bytes, length);
    length = needed;
  }
  if (refusal !== null) throw refusal;
  return bytes.subarray(0, length);
}

function tooLarge(limit: number): SmtpReply {
  return new SmtpReply(552, '5.3.4', `The message is larger than ${limit} bytes`);
}

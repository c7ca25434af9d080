import type { Filled } from '../lib/render/filled.ts';
import { ChunkedBody, type ChunkPool, createChunkPool, type OutgoingBytes } from './chunk-pool.ts';
import { cleanName, isOurHeader } from './headers.ts';
import type { MailStream, MessageText, OutgoingMessage } from './mailer.ts';

/** Names of the provider's message streams. */
export type StreamNames = Record<MailStream, string>;

/**
 * Messages in the fields of Postmark's `/email/batch` (contract page 3, 10.2), as the bytes of its JSON. Written message by
 * message and part by part: what messages share is copied, and nothing is put together that is only there to be taken apart.
 */
export function batchBody(
  claimId: string,
  messages: readonly OutgoingMessage[],
  streams: StreamNames,
  pool: ChunkPool,
): OutgoingBytes {
  return new BatchWriter(claimId, streams, pool).write(messages);
}

/** An address with its name, as header fields carry it; the provider encodes what is not ASCII. */
export function mailbox({ address, name }: { address: string; name: string | null }): string {
  const clean = cleanName(name);
  return clean === '' ? address : `"${clean.replace(/["\\]/g, '\\$&')}" <${address}>`;
}

/**
 * Bytes that a message takes at most in a JSON body, without writing it: no UTF-16 unit becomes more than the six bytes of a
 * `\uXXXX` escape. Base64 never needs escaping.
 */
export function mostBytes(message: OutgoingMessage): number {
  const { from, to, replyTo, subject, html, text, headers, attachments } = message;
  // A quote or backslash of a name is escaped once more.
  const names = 2 * ((from.name?.length ?? 0) + (to.name?.length ?? 0));
  let units = names + from.address.length + to.address.length + subject.length + html.length;
  if (replyTo !== null) units += replyTo.length;
  if (text !== null) units += text.length;
  for (const { name, value } of headers) units += name.length + value.length + 24;
  let files = 0;
  for (const file of attachments) files += file.content.length + 2048 * 6;
  return 6 * units + files + 2048;
}

/** Bytes of a message in a JSON body, exactly. */
export function exactBytes(claimId: string, message: OutgoingMessage, streams: StreamNames): number {
  return batchBody(claimId, [message], streams, createChunkPool(1024, 0)).byteLength - 2;
}

const quoted = (text: string) => Buffer.from(JSON.stringify(text));
const bytes = (text: string) => Buffer.from(text);

const syntax = {
  begin: bytes('['),
  comma: bytes(','),
  end: bytes(']'),
  replyTo: bytes('","ReplyTo":"'),
  subject: bytes('","Subject":"'),
  html: bytes('","HtmlBody":"'),
  text: bytes('","TextBody":"'),
  headers: bytes('","Headers":['),
  noHeaders: bytes('"'),
  attachments: bytes(',"Attachments":['),
  file: bytes('{"Name":"'),
  content: bytes('","Content":"'),
  contentType: bytes('","ContentType":"'),
  contentId: bytes('","ContentID":'),
  header: bytes('{"Name":"'),
  value: bytes('","Value":"'),
  closed: bytes('"}'),
  closedObject: bytes('}'),
};

// What stands in the bytes of a JSON string otherwise than by its own code.
const unlike = /[^ !#-[\]-~]/;

class BatchWriter {
  private readonly claimId: string;
  private readonly streams: StreamNames;
  private readonly body: ChunkedBody;
  private head = { of: null as OutgoingMessage['from'] | null, bytes: syntax.comma };
  private tail = { of: null as OutgoingMessage | null, bytes: syntax.comma };
  private pid = { of: '', bytes: syntax.comma };
  // Most headers of a message are the same objects as those of the one before it.
  private readonly known: { of: OutgoingMessage['headers'][number]; bytes: Buffer | null }[] = [];
  private readonly frameBytes: number;

  constructor(claimId: string, streams: StreamNames, pool: ChunkPool) {
    this.claimId = claimId;
    this.streams = streams;
    this.body = new ChunkedBody(pool);
    this.frameBytes = 6 * (claimId.length + Math.max(...Object.values(streams).map((name) => name.length)));
  }

  write(messages: readonly OutgoingMessage[]): OutgoingBytes {
    this.body.reserve(2);
    this.raw(syntax.begin);
    messages.forEach((message, place) => {
      this.body.reserve(mostBytes(message) + this.frameBytes);
      if (place > 0) this.raw(syntax.comma);
      this.message(message);
    });
    this.body.reserve(1);
    this.raw(syntax.end);
    return this.body.end();
  }

  private message(message: OutgoingMessage): void {
    const { to, replyTo, text, attachments } = message;
    this.raw(this.headOf(message));
    this.string(to.name === null ? to.address : mailbox(to));
    if (replyTo !== null) {
      this.raw(syntax.replyTo);
      this.string(replyTo);
    }
    this.raw(syntax.subject);
    this.string(message.subject);
    this.raw(syntax.html);
    this.text(message.html);
    if (text !== null) {
      this.raw(syntax.text);
      this.text(text);
    }
    this.headers(message);
    if (attachments.length > 0) this.attachments(attachments);
    this.raw(this.tailOf(message));
    this.string(message.emailId);
    this.raw(this.pidOf(message));
  }

  private headers({ headers }: OutgoingMessage): void {
    let some = false;
    headers.forEach((header, place) => {
      if (!isOurHeader(header.name)) return;
      this.raw(some ? syntax.comma : syntax.headers);
      some = true;
      this.header(header, place);
    });
    this.raw(some ? syntax.end : syntax.noHeaders);
  }

  private header(header: OutgoingMessage['headers'][number], place: number): void {
    const known = this.known[place];
    if (known?.of === header && known.bytes !== null) {
      this.raw(known.bytes);
      return;
    }
    const from = this.body.at;
    this.raw(syntax.header);
    this.string(header.name);
    this.raw(syntax.value);
    this.string(header.value);
    this.raw(syntax.closed);
    // What comes once need not come again.
    const bytes = known?.of === header ? Buffer.from(this.body.chunk.subarray(from, this.body.at)) : null;
    this.known[place] = { of: header, bytes };
  }

  private attachments(files: OutgoingMessage['attachments']): void {
    this.raw(syntax.attachments);
    files.forEach(({ filename, content, contentType, contentId }, place) => {
      if (place > 0) this.raw(syntax.comma);
      this.raw(syntax.file);
      this.string(filename);
      this.raw(syntax.content);
      this.string(content);
      this.raw(syntax.contentType);
      this.string(contentType);
      this.raw(syntax.contentId);
      this.raw(contentId === null ? bytes('null') : quoted(`cid:${contentId}`));
      this.raw(syntax.closedObject);
    });
    this.raw(syntax.end);
  }

  private headOf({ from }: OutgoingMessage): Buffer {
    const { of } = this.head;
    if (of === null || of.address !== from.address || of.name !== from.name)
      this.head = { of: from, bytes: bytes(`{"From":${JSON.stringify(mailbox(from))},"To":"`) };
    return this.head.bytes;
  }

  private tailOf(message: OutgoingMessage): Buffer {
    const { tag, tracking, stream } = message;
    const { of } = this.tail;
    if (of === null || of.tag !== tag || of.tracking !== tracking || of.stream !== stream) {
      const fields = {
        Tag: tag,
        TrackOpens: tracking,
        TrackLinks: tracking ? 'HtmlOnly' : 'None',
        MessageStream: this.streams[stream],
      };
      this.tail = { of: message, bytes: bytes(`,${JSON.stringify(fields).slice(1, -1)},"Metadata":{"eid":"`) };
    }
    return this.tail.bytes;
  }

  private pidOf({ projectId }: OutgoingMessage): Buffer {
    if (this.pid.of !== projectId || this.pid.bytes === syntax.comma) {
      const rest = JSON.stringify({ pid: projectId, claim: this.claimId }).slice(1, -1);
      this.pid = { of: projectId, bytes: bytes(`",${rest}}}`) };
    }
    return this.pid.bytes;
  }

  private text(text: MessageText): void {
    if (typeof text === 'string') this.string(text);
    else if (!this.parts(text)) this.string(String(text));
  }

  // Answers false, with nothing written, where one half of a surrogate pair may stand in a part of its own.
  private parts({ parts }: Filled): boolean {
    const from = this.body.at;
    for (const part of parts) {
      const isWhole = typeof part === 'string' ? part.isWellFormed() : part.isWellFormed;
      if (!isWhole) {
        this.body.at = from;
        return false;
      }
      if (typeof part === 'string') this.string(part);
      else this.raw(part.json);
    }
    return true;
  }

  private string(value: string): void {
    const { body } = this;
    if (!unlike.test(value)) body.at += body.chunk.write(value, body.at, 'latin1');
    else body.at += body.chunk.write(JSON.stringify(value).slice(1, -1), body.at);
  }

  private raw(written: Buffer): void {
    const { body } = this;
    body.chunk.set(written, body.at);
    body.at += written.length;
  }
}

import type { Filled } from '@fernpost/renderer';
import type { MailStream, MessageText, OutgoingMessage } from '../mailer.ts';
import { cleanName, isOurHeader } from '../mime.ts';
import type { Chunks } from './postmark-batch.ts';

/** Names of the provider's message streams. */
export type StreamNames = Record<MailStream, string>;

/** An address with its name, as header fields carry it; the provider encodes what is not ASCII. */
function mailbox({ address, name }: { address: string; name: string | null }): string {
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

const quoted = (text: string) => Buffer.from(JSON.stringify(text));
const bytes = (text: string) => Buffer.from(text);

const syntax = {
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

// From here on it takes longer to scan a text than to compare it with one that is known.
const longText = 64;

// Characters that JSON strings escape, or that take several bytes.
const unlike = /[^ !#-[\]-~]/;

/**
 * Writes messages in the fields of Postmark's `/email/batch` (docs/contract/platform.md#10-2), as the bytes of their JSON. Part
 * by part: what messages share is copied, and nothing is put together that is only there to be taken apart.
 */
export class MessageWriter {
  /** Bytes that may come to `mostBytes` of a message for what all of them say. */
  readonly frameBytes: number;
  private readonly claimId: string;
  private readonly streams: StreamNames;
  private readonly body: Chunks;
  private head = { of: null as OutgoingMessage['from'] | null, bytes: syntax.comma };
  private tail = { of: null as OutgoingMessage | null, bytes: syntax.comma };
  private pid = { of: '', bytes: syntax.comma };
  // Most headers of a message are the same objects as those of the one before it.
  private readonly known: { of: OutgoingMessage['headers'][number]; bytes: Buffer | null }[] = [];
  // A link to the recipient's pages stands in the HTML and in the text.
  private readonly plainLinks = ['', ''];

  constructor(body: Chunks, claimId: string, streams: StreamNames) {
    this.body = body;
    this.claimId = claimId;
    this.streams = streams;
    this.frameBytes = 6 * (claimId.length + Math.max(...Object.values(streams).map((name) => name.length)));
  }

  /** Writes a message into the current chunk, which must have space for `mostBytes` and `frameBytes`. */
  write(message: OutgoingMessage): void {
    const { to, replyTo, text, attachments } = message;
    this.body.append(this.headOf(message));
    this.string(to.name === null ? to.address : mailbox(to));
    if (replyTo !== null) {
      this.body.append(syntax.replyTo);
      this.string(replyTo);
    }
    this.body.append(syntax.subject);
    this.string(message.subject);
    // Postmark takes a message with one of the two; mail that has only a text has no HTML at all.
    if (message.html.length > 0 || text === null || text.length === 0) {
      this.body.append(syntax.html);
      this.text(message.html);
    }
    if (text !== null) {
      this.body.append(syntax.text);
      this.text(text);
    }
    this.headers(message);
    if (attachments.length > 0) this.attachments(attachments);
    this.body.append(this.tailOf(message));
    this.string(message.emailId);
    this.body.append(this.pidOf(message));
  }

  private headers({ headers }: OutgoingMessage): void {
    let some = false;
    headers.forEach((header, place) => {
      if (!isOurHeader(header.name)) return;
      this.body.append(some ? syntax.comma : syntax.headers);
      some = true;
      this.header(header, place);
    });
    this.body.append(some ? syntax.end : syntax.noHeaders);
  }

  private header(header: OutgoingMessage['headers'][number], place: number): void {
    const known = this.known[place];
    if (known?.of === header && known.bytes !== null) {
      this.body.append(known.bytes);
      return;
    }
    const from = this.body.at;
    this.body.append(syntax.header);
    this.string(header.name);
    this.body.append(syntax.value);
    this.string(header.value);
    this.body.append(syntax.closed);
    // A header is kept from its second use on.
    const bytes = known?.of === header ? Buffer.from(this.body.chunk.subarray(from, this.body.at)) : null;
    this.known[place] = { of: header, bytes };
  }

  private attachments(files: OutgoingMessage['attachments']): void {
    this.body.append(syntax.attachments);
    files.forEach(({ filename, content, contentType, contentId }, place) => {
      if (place > 0) this.body.append(syntax.comma);
      this.body.append(syntax.file);
      this.string(filename);
      this.body.append(syntax.content);
      this.string(content);
      this.body.append(syntax.contentType);
      this.string(contentType);
      this.body.append(syntax.contentId);
      this.body.append(contentId === null ? bytes('null') : quoted(`cid:${contentId}`));
      this.body.append(syntax.closedObject);
    });
    this.body.append(syntax.end);
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
      if (typeof part !== 'string' && part.isWellFormed) this.body.append(part.json);
      else if (typeof part === 'string' && this.isPlain(part)) this.plain(part);
      else if (typeof part === 'string' && part.isWellFormed()) this.escaped(part);
      else {
        this.body.at = from;
        return false;
      }
    }
    return true;
  }

  private string(value: string): void {
    if (this.isPlain(value)) this.plain(value);
    else this.escaped(value);
  }

  private isPlain(value: string): boolean {
    if (value.length < longText) return !unlike.test(value);
    const { plainLinks } = this;
    if (value === plainLinks[0] || value === plainLinks[1]) return true;
    if (unlike.test(value)) return false;
    plainLinks[0] = plainLinks[1] ?? '';
    plainLinks[1] = value;
    return true;
  }

  private plain(value: string): void {
    this.body.at += this.body.chunk.write(value, this.body.at);
  }

  private escaped(value: string): void {
    this.body.at += this.body.chunk.write(JSON.stringify(value).slice(1, -1), this.body.at);
  }
}

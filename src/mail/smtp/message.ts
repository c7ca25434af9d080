import PostalMime, {
  type Address,
  type Attachment,
  decodeWords,
  type Email,
  type Header,
  type Mailbox,
} from 'postal-mime';
import type { SMTPServerDataStream } from 'smtp-server';
import { storableText } from '../../lib/text.ts';
import { SmtpReply } from './waiting-room.ts';

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

/** A file of a message. */
interface IncomingFile {
  filename: string;
  /** In Base64. */
  content: string;
  contentType: string;
  disposition: 'inline' | 'attachment';
  /** The Content-ID of an inline file, without brackets. */
  contentId?: string;
}

/** A message as a client sent it. */
export interface IncomingMessage {
  from: Mailbox | null;
  /** The first address of `Reply-To`, as it is written. */
  replyTo: string | null;
  subject: string;
  /** Empty where it has none. */
  html: string;
  /** Null where it has only HTML. */
  text: string | null;
  /** Names of the addresses in `To` and `Cc`. */
  names: ReadonlyMap<string, string>;
  /** Headers that are passed on. */
  headers: Record<string, string>;
  attachments: IncomingFile[];
  messageId: string | null;
  date: string | null;
  /** Values of the headers for the server, by the lower-case rest of their names; those of one name in their order. */
  directives: ReadonlyMap<string, readonly string[]>;
}

/**
 * The parsed content of a message. Headers whose lower-case names begin with one of `prefixes` are for the server, and are not passed on; those with
 * the first prefix win over others of the same rest.
 * @throws SmtpReply 550 when it is no MIME that can be read
 */
export async function readMessage(raw: Buffer, prefixes: readonly string[]): Promise<IncomingMessage> {
  const email = await PostalMime.parse(raw, { attachmentEncoding: 'base64', forceRfc822Attachments: true }).catch(
    (error: Error) => {
      throw new SmtpReply(550, '5.6.0', `The message cannot be read: ${error.message}`);
    },
  );
  const html = storableText(email.html ?? '');
  const text = storableText(email.text ?? '');
  return {
    from: mailboxesOf(email.from ? [email.from] : [])[0] ?? null,
    replyTo: mailboxesOf(email.replyTo)[0]?.address ?? null,
    subject: line(email.subject ?? ''),
    html,
    // A message without any text, such as a scan, still has to have a part that the provider takes.
    text: text !== '' || html !== '' ? text || null : ' ',
    names: namesOf(email),
    headers: headersOf(email.headers, prefixes),
    attachments: email.attachments.map(attachmentOf),
    messageId: email.messageId ?? null,
    date: email.date ?? null,
    directives: directivesOf(email.headers, prefixes),
  };
}

function mailboxesOf(addresses: readonly Address[] = []): Mailbox[] {
  return addresses.flatMap((address) => address.group ?? [address]);
}

function namesOf({ to, cc }: Email): Map<string, string> {
  const named = [...mailboxesOf(cc), ...mailboxesOf(to)].filter(({ name }) => line(name) !== '');
  return new Map(named.map(({ address, name }) => [address.toLowerCase(), line(name)]));
}

// What the server, the provider or the path so far decides.
const ownNames = /^(arc-|authentication-results|bcc|delivered-to|received|resent-|return-path|x-original-to)/;
const longestValue = 998;

function headersOf(headers: readonly Header[], prefixes: readonly string[]): Record<string, string> {
  const kept = headers
    .filter(({ key }) => !ownNames.test(key) && !prefixes.some((prefix) => key.startsWith(prefix)))
    .filter(({ key }) => /^[\x21-\x39\x3b-\x7e]+$/.test(key))
    .map(
      ({ key, originalKey, value }) => [originalKey, key === 'references' ? lastWords(value) : line(value)] as const,
    );
  return Object.fromEntries(kept.filter(([, value]) => value !== '' && value.length <= longestValue));
}

// A thread may be longer than a header; its latest messages are what mail programs look for.
function lastWords(value: string): string {
  const words = line(value).split(' ');
  while (words.length > 1 && words.join(' ').length > longestValue) words.shift();
  return words.join(' ');
}

function directivesOf(headers: readonly Header[], prefixes: readonly string[]): Map<string, string[]> {
  const [first, ...others] = prefixes;
  const found = new Map<string, string[]>();
  if (first === undefined) return found;
  for (const { key, value } of headers) {
    if (!key.startsWith(first)) continue;
    const name = key.slice(first.length);
    found.set(name, [...(found.get(name) ?? []), line(decodeWords(value))]);
  }
  return new Map([...directivesOf(headers, others), ...found]);
}

function attachmentOf(file: Attachment, place: number): IncomingFile {
  const contentId = line(file.contentId ?? '').replace(/[<>]/g, '');
  const isInline = contentId !== '' && (file.disposition === 'inline' || file.related === true);
  const method = file.method ? `; method=${line(file.method)}` : '';
  return {
    filename: filenameOf(file, place),
    content: String(file.content),
    contentType: `${line(file.mimeType)}${method}`.slice(0, 255),
    ...(isInline ? { disposition: 'inline', contentId: contentId.slice(0, 255) } : { disposition: 'attachment' }),
  };
}

function filenameOf({ filename, mimeType }: Attachment, place: number): string {
  const name = line(filename ?? '').replaceAll('"', "'");
  if (name !== '') return name.slice(-255);
  return mimeType === 'message/rfc822' ? `message-${place + 1}.eml` : `attachment-${place + 1}`;
}

function line(text: string): string {
  return storableText(text)
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
}

import type { SubmittedMessage } from '../schema.ts';
import type { Entry } from '../store/entry.ts';
import { parseAddresses } from './addresses.ts';

const crlf = '\r\n';

/**
 * The message as it would travel (RFC 5322 and MIME): headers, text and HTML as quoted-printable, attachments as
 * base64. Boundaries come from the message's id, so that the text is the same each time.
 */
export function messageSource(entry: Entry, message: SubmittedMessage): string {
  const lines = messageHeaders(entry, message).map(([name, value]) => `${name}: ${value}`);
  return lines.join(crlf) + crlf + mixedPart(entry.id, message);
}

/** The headers of the message as name and encoded value, in the order of its source, without those of its MIME parts. */
export function messageHeaders(entry: Entry, message: SubmittedMessage): [name: string, value: string][] {
  const headers: [string, string][] = [
    ['From', addressHeader(message.From)],
    ['To', addressHeader(message.To)],
    ['Cc', addressHeader(message.Cc)],
    ['Reply-To', addressHeader(message.ReplyTo)],
    ['Subject', encodeText(entry.subject)],
    ['Date', new Date(entry.at).toUTCString().replace('GMT', '+0000')],
    ['Message-ID', `<${entry.id}@sandbox.invalid>`],
    ...(message.Headers ?? []).map(({ Name, Value }): [string, string] => [Name, encodeText(Value)]),
    ['MIME-Version', '1.0'],
  ];
  return headers.filter(([, value]) => value !== '');
}

function mixedPart(id: string, message: SubmittedMessage): string {
  const body = alternativePart(id, message);
  if (!message.Attachments?.length) return body;
  const attachments = message.Attachments.map(({ Name, ContentType, ContentID, Content }) => {
    const name = encodeText(Name.replaceAll(/["\\\r\n]/g, '_'));
    const cid = ContentID ? `Content-ID: <${ContentID.replace(/^cid:/i, '').replaceAll(/[<>\r\n]/g, '')}>${crlf}` : '';
    return (
      `Content-Type: ${ContentType}; name="${name}"${crlf}Content-Transfer-Encoding: base64${crlf}${cid}` +
      `Content-Disposition: ${cid ? 'inline' : 'attachment'}; filename="${name}"${crlf}${crlf}${foldBase64(Content)}`
    );
  });
  return multipart('mixed', `mixed-${id}`, [body, ...attachments]);
}

function alternativePart(id: string, message: SubmittedMessage): string {
  const parts: string[] = [];
  if (message.TextBody) parts.push(textPart('plain', message.TextBody));
  if (message.HtmlBody) parts.push(textPart('html', message.HtmlBody));
  return parts.length === 1 ? (parts[0] ?? '') : multipart('alternative', `alternative-${id}`, parts);
}

function multipart(kind: string, boundary: string, parts: readonly string[]): string {
  const head = `Content-Type: multipart/${kind}; boundary="${boundary}"${crlf}${crlf}`;
  return `${head}${parts.map((part) => `--${boundary}${crlf}${part}${crlf}`).join('')}--${boundary}--${crlf}`;
}

function textPart(kind: string, body: string): string {
  const head = `Content-Type: text/${kind}; charset=UTF-8${crlf}Content-Transfer-Encoding: quoted-printable`;
  return `${head}${crlf}${crlf}${quotedPrintable(body)}`;
}

/** Encodes text as quoted-printable (RFC 2045, 6.7) with lines of at most 76 characters. */
function quotedPrintable(body: string): string {
  return body
    .split(/\r\n|\r|\n/)
    .map(encodeLine)
    .join(crlf);
}

function encodeLine(line: string): string {
  const lines: string[] = [];
  let current = '';
  const bytes = Buffer.from(line);
  bytes.forEach((byte, i) => {
    const last = i === bytes.length - 1;
    const blank = byte === 0x20 || byte === 0x09;
    const literal = blank ? !last : byte > 0x20 && byte < 0x7f && byte !== 0x3d;
    const piece = literal ? String.fromCharCode(byte) : `=${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    if (current.length + piece.length > 75) {
      lines.push(`${current}=`);
      current = '';
    }
    current += piece;
  });
  lines.push(current);
  return lines.join(crlf);
}

function addressHeader(value: string | null | undefined): string {
  const parsed = parseAddresses(value ?? '');
  if (!parsed.ok) return '';
  return parsed.mailboxes.map(({ email, name }) => (name === '' ? email : `${phrase(name)} <${email}>`)).join(', ');
}

function phrase(name: string): string {
  if (/[^\t\x20-\x7e]/.test(name)) return encodeText(name);
  return /^[a-z0-9 ]*$/i.test(name) ? name : `"${name.replaceAll(/["\\]/g, '\\$&')}"`;
}

/** Encodes a header value as RFC 2047 asks when it is not plain ASCII. */
function encodeText(value: string): string {
  const line = value.replaceAll(/[\r\n]+/g, ' ');
  if (/^[\t\x20-\x7e]*$/.test(line)) return line;
  const words: string[] = [];
  let current = '';
  for (const char of line) {
    if (Buffer.byteLength(current + char) > 42) {
      words.push(current);
      current = '';
    }
    current += char;
  }
  words.push(current);
  return words.map((piece) => `=?UTF-8?B?${Buffer.from(piece).toString('base64')}?=`).join(`${crlf} `);
}

function foldBase64(content: string): string {
  return content.replaceAll(/\s+/g, '').replaceAll(/.{76}/g, `$&${crlf}`);
}

import type { SubmittedMessage } from '../schema.ts';

/** A mailbox out of an address header: the bare address as written, and the display name, which may be empty. */
export interface Mailbox {
  email: string;
  name: string;
}

/** Either every mailbox of a header value, or the first piece that is no address with the reason. */
type ParsedAddresses = { ok: true; mailboxes: Mailbox[] } | { ok: false; piece: string; reason: string };

// The two patterns that Postmark publishes for mailbox and domain.
const localPart = /^[a-z0-9.!#$%&'`*+\-/=^_{}|~]+$/i;
const domainPart = /^[a-z0-9-]+(?:\.[a-z0-9-]+)*$/i;

/**
 * Reads a header value such as `"Lovelace, Ada" <ada@example.com>, bob@example.com` by Postmark's published rules:
 * names with a comma need quotes, and the address itself is plain ASCII. Empty pieces are skipped.
 */
export function parseAddresses(value: string): ParsedAddresses {
  const mailboxes: Mailbox[] = [];
  for (const piece of splitAtCommas(value)) {
    const mailbox = readMailbox(piece);
    const reason = problemOf(mailbox.email);
    if (reason) return { ok: false, piece: mailbox.email || piece, reason };
    mailboxes.push(mailbox);
  }
  return { ok: true, mailboxes };
}

function splitAtCommas(value: string): string[] {
  const pieces: string[] = [];
  let start = 0;
  let quoted = false;
  for (let i = 0; i < value.length; i += 1) {
    const char = value[i];
    if (quoted && char === '\\') i += 1;
    else if (char === '"') quoted = !quoted;
    else if (char === ',' && !quoted) {
      pieces.push(value.slice(start, i));
      start = i + 1;
    }
  }
  pieces.push(value.slice(start));
  return pieces.map((piece) => piece.trim()).filter((piece) => piece !== '');
}

function readMailbox(piece: string): Mailbox {
  const open = piece.endsWith('>') ? piece.lastIndexOf('<') : -1;
  if (open < 0) return { email: piece, name: '' };
  return { email: piece.slice(open + 1, -1).trim(), name: unquote(piece.slice(0, open).trim()) };
}

function unquote(name: string): string {
  if (name.length < 2 || !name.startsWith('"') || !name.endsWith('"')) return name;
  const inner = name.slice(1, -1);
  return inner.includes('\\') ? inner.replaceAll(/\\(.)/g, '$1') : inner;
}

function problemOf(email: string): string | null {
  const at = email.lastIndexOf('@');
  if (at < 0) return "It must contain the '@' symbol.";
  const local = email.slice(0, at);
  if (!localPart.test(local) || local.startsWith('.') || local.endsWith('.') || local.includes('..')) {
    return 'The part before the @ is not allowed.';
  }
  return domainPart.test(email.slice(at + 1)) ? null : 'The domain is not allowed.';
}

/**
 * Extensions of the files that Postmark refuses to carry, lower case
 * (https://postmarkapp.com/support/article/1056-what-are-the-attachment-and-email-size-limits). It says so by ErrorCode 411.
 */
export const refusedByPostmark: ReadonlySet<string> = new Set(
  `bat bin chm com cpl crt exe hlp hta inf ins isp jse lnk mdb msc msi msp mst pcd pif reg scr sct shs vb vba vbe vbs wsc wsf
  wsh wsl`.split(/\s+/),
);

/** The extension of a file's name, lower case and without its dot; empty where there is none. */
export function extensionOf(filename: string): string {
  return /\.([^.\s]+)\s*$/.exec(filename)?.[1]?.toLowerCase() ?? '';
}

const inlineTypes = /^image\/(?:png|jpe?g|gif|webp|avif|bmp|svg\+xml)$/i;

/**
 * The policy for a message's own HTML: no script, no form, no frame, an origin of its own that shares nothing with the
 * inbox; images from the web only when asked for. Links open in a new tab that is free of these limits.
 */
export function framePolicy(images: boolean): string {
  return [
    'sandbox allow-popups allow-popups-to-escape-sandbox',
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    `img-src data:${images ? ' https: http:' : ''}`,
    `font-src data:${images ? ' https:' : ''}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
  ].join('; ');
}

/** The HTML as it is shown: links open in a new tab, and images attached to the message stand where it names them. */
export function framedHtml(message: SubmittedMessage): string {
  const markup = message.HtmlBody ?? '';
  const base = '<base target="_blank">';
  const head = /<head(?:\s[^>]*)?>/i.exec(markup) ?? /^\s*<!doctype[^>]*>/i.exec(markup);
  const at = head ? head.index + head[0].length : 0;
  return withInlineImages(`${markup.slice(0, at)}${base}${markup.slice(at)}`, message.Attachments ?? []);
}

function withInlineImages(markup: string, attachments: NonNullable<SubmittedMessage['Attachments']>): string {
  const images = new Map<string, string>();
  for (const { ContentID, ContentType, Content } of attachments) {
    if (!ContentID || !inlineTypes.test(ContentType)) continue;
    images.set(ContentID.replace(/^cid:/i, ''), `data:${ContentType};base64,${Content.replaceAll(/\s+/g, '')}`);
  }
  if (images.size === 0) return markup;
  return markup.replaceAll(/cid:([^"'\s)<>]+)/gi, (whole, id: string) => images.get(id) ?? whole);
}

/**
 * A command that sends a first email: through the service where its address is known, else to the sandbox itself, whose address is
 * `own`.
 */
export function firstSnippet(serviceUrls: readonly string[], own: string): { text: string; needsKey: boolean } {
  const [service] = serviceUrls;
  if (service === undefined) return { text: toSandbox(own), needsKey: false };
  return { text: toService(service), needsKey: true };
}

function toService(base: string): string {
  return `curl ${base}/v1/send \\
  -H "Authorization: Bearer $SECRET_KEY" -H 'Content-Type: application/json' \\
  -d '{ "to": "ada@example.com", "from": "hello@fernpost.test", "subject": "Hello", "body": "<p>Welcome!</p>" }'`;
}

function toSandbox(base: string): string {
  return `curl ${base}/email \\
  -H 'X-Postmark-Server-Token: sandbox' -H 'Content-Type: application/json' -H 'Accept: application/json' \\
  -d '{ "To": "ada@example.com", "From": "hello@fernpost.test", "Subject": "Hello", "HtmlBody": "<p>Welcome!</p>" }'`;
}

/** A mailbox out of an address header: the bare address as written, and the display name, which may be empty. */
export interface Mailbox {
  email: string;
  name: string;
}

/** Either every mailbox of a header value, or the first piece that is no address with the reason. */
export type ParsedAddresses = { ok: true; mailboxes: Mailbox[] } | { ok: false; piece: string; reason: string };

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

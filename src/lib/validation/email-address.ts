import * as v from 'valibot';
import { coded } from './fields.ts';

// Every character of an RFC 5322 atom before the `@`, labels that neither begin nor end with a hyphen (RFC 1123), and top-level domains in
// their ASCII form (RFC 5890). It runs before lower-casing, because some letters outside ASCII (the Kelvin sign) become ASCII when
// lower-cased: two people would share an address. Without flags, so that the API reference can show it as it is.
const emailPattern =
  /^(?=.{1,254}$)[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)+(?:[A-Za-z]{2,}|[Xx][Nn]--[A-Za-z0-9-]*[A-Za-z0-9])$/;

/**
 * An address trimmed and lower-cased, as it is stored and compared. `null` when the text is none: one `@`, a plain local part without
 * stray dots, a dotted domain, at most 254 characters.
 */
export function normalizeEmail(text: string): string | null {
  const trimmed = text.trim();
  return emailPattern.test(trimmed) ? trimmed.toLowerCase() : null;
}

/** Whether the text, blanks around it aside, is an address. */
export function isEmail(text: string): boolean {
  return normalizeEmail(text) !== null;
}

/** Returns the part of an address after the `@`. Expects an address that passed `normalizeEmail`. */
export function domainOf(email: string): string {
  return email.slice(email.lastIndexOf('@') + 1);
}

/** Returns the part of an address before the `@`. Expects an address that passed `normalizeEmail`. */
export function localPartOf(email: string): string {
  return email.slice(0, email.lastIndexOf('@'));
}

/** An address in a request: trimmed and lower-cased on the way in; a malformed one is an `invalid_string` problem. */
export const EmailField = v.pipe(
  v.string(),
  v.trim(),
  v.regex(emailPattern, 'must be an email address'),
  v.toLowerCase(),
);

/** An address, and the display name that was written with it. */
export interface Sender {
  email: string;
  name: string | null;
}

/**
 * Reads a sender as mail programs write it (RFC 5322, 3.4): `hello@acme.com`, `Acme <hello@acme.com>` or `"Acme, Inc." <hello@acme.com>`.
 * Returns null when the text is neither.
 */
export function parseSender(text: string): Sender | null {
  const trimmed = text.trim();
  const open = trimmed.endsWith('>') ? trimmed.lastIndexOf('<') : -1;
  if (open === -1) {
    const email = normalizeEmail(trimmed);
    return email === null ? null : { email, name: null };
  }
  const email = normalizeEmail(trimmed.slice(open + 1, -1));
  const name = unquoted(trimmed.slice(0, open).trim());
  if (email === null || /[\r\n\0]/.test(name)) return null;
  return { email, name: name === '' ? null : name };
}

function unquoted(name: string): string {
  const isQuoted = name.length >= 2 && name.startsWith('"') && name.endsWith('"');
  return isQuoted ? name.slice(1, -1).replaceAll(/\\(.)/g, '$1').trim() : name;
}

/** A sender in a request, as `parseSender` reads it; any other text is an `invalid_string` problem. */
export const SenderField = v.pipe(
  v.string(),
  coded(
    'invalid_string',
    (text) => parseSender(text) !== null,
    'must be an email address, or a name with one: Acme <hello@acme.com>',
  ),
  v.description('An email address, or a name with one: `Acme <hello@acme.com>`.'),
  v.examples(['hello@acme.com']),
);

/**
 * Content whose `from` is a bare address: the display name that was written with it becomes `fromName`, before one that is
 * given beside it.
 */
export function withBareSender<Content extends { from?: string | undefined; fromName?: string | null | undefined }>(
  content: Content,
): Content {
  const sender = content.from === undefined ? null : parseSender(content.from);
  if (sender === null) return content;
  return { ...content, from: sender.email, ...(sender.name === null ? {} : { fromName: sender.name }) };
}

import * as v from 'valibot';

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

/** What stands behind the `@` of an address. Expects an address that passed `normalizeEmail`. */
export function domainOf(email: string): string {
  return email.slice(email.lastIndexOf('@') + 1);
}

/** What stands before the `@` of an address. Expects an address that passed `normalizeEmail`. */
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

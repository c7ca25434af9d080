import { type Query, raw, sql } from '../../core/database/sql.ts';

const domain = 'erased.invalid';

/** The address that takes the place of an erased one; `.invalid` never receives mail (RFC 2606). */
export function pseudonymOf(subject: string): string {
  return `erased-${subject.slice(0, 8)}@${domain}`;
}

/** Whether the recipient of the mail `alias` was erased: what is still reported of it is about nobody. */
export function isErasedMail(alias: string): Query {
  const address = raw(`${alias}.to_address`);
  return sql`${address} like ${raw(`'erased-________@${domain}'`)}`;
}

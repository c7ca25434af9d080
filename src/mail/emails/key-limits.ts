import { reaches } from '../../contacts/suppressions/matching.ts';
import { checkKeySender } from '../../domains/service.ts';
import type { ScopedKey } from '../../http/context.ts';
import { forbidden } from '../../lib/errors.ts';
import { domainOf } from '../../lib/validation/email-address.ts';

/** @throws 403 for mail that a key could not have sent, and so may not change */
export function checkStoredMail(key: ScopedKey | null, { from, to }: { from: string; to: string }): void {
  checkKeySender(key, domainOf(from));
  if (reaches(key, to)) return;
  throw forbidden(
    `This key may not send to ${to}`,
    { reason: 'recipient', recipient: to, allowed: key?.recipients },
    'Use a key that may send to this recipient.',
  );
}

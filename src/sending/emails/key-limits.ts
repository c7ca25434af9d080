import { domainOf } from '@fernpost/validation';
import { reaches } from '../../audience/suppressions/index.ts';
import type { ScopedKey } from '../../core/http/context.ts';
import { forbidden } from '../../core/lib/errors.ts';
import { checkKeySender } from '../../platform/domains/index.ts';

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

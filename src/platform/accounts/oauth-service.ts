import type { Config } from '../../core/config/config.ts';
import type { Database } from '../../core/database/sql.ts';
import { User } from './entity.ts';
import { type AccountType, insertUser } from './queries.ts';

/** Why somebody whom a provider vouches for is not let in, in a sentence for them. */
export class OAuthRefusal extends Error {}

/**
 * The account of an address that a provider vouches for, made when there is none. An address keeps the way of signing in
 * that its account began with: otherwise whoever controls one provider could enter accounts of another.
 * @throws OAuthRefusal
 */
export async function oauthUser(
  db: Database,
  email: string,
  type: AccountType,
  { DISABLE_SIGNUPS, mailLeaves }: Pick<Config, 'DISABLE_SIGNUPS' | 'mailLeaves'>,
): Promise<Pick<User, 'id' | 'email' | 'sessionVersion'>> {
  const known = () => db.em.findOne(User, { email });
  let user: Pick<User, 'id' | 'email' | 'sessionVersion' | 'type'> | null = await known();
  if (user === null) {
    if (DISABLE_SIGNUPS) throw new OAuthRefusal('Sign-ups are disabled on this service');
    // Another request may have added the same address first.
    const added = { email, passwordHash: null, type, emailVerified: true, selfRegistered: mailLeaves };
    user = (await insertUser(db, added)) ?? (await known());
  }
  if (user?.type !== type) throw new OAuthRefusal('This address has an account with another way to sign in');
  return user;
}

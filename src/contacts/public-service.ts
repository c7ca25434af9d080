import type { Sql } from '../db/sql.ts';
import { verifyLinkToken } from '../delivery/content/links.ts';
import { forbidden, notFound } from '../lib/errors.ts';
import { isUuid, newId } from '../lib/ids.ts';
import { chooseLanguage } from '../lib/languages.ts';
import { changeOwnSubscription, findPublicContact, type PublicContactRow } from './public-queries.ts';

/** What a link to a recipient's pages carries beside the contact's id. */
export interface LinkParameters {
  /** The mail the recipient came from; counts only when it is theirs. */
  e?: string | undefined;
  /** The signature that proves that we made the link. */
  t?: string | undefined;
}

/**
 * A contact as their own pages show it (contract page 1, 3.9). Ids of contacts are no secrets, so that the address is
 * told only to whoever holds a signed link; others see null.
 * @throws 404 CONTACT_NOT_FOUND
 */
export async function publicContact(sql: Sql, id: string, { t }: LinkParameters, linkSecret: string) {
  const contact = await known(sql, id);
  return { ...shown(contact, t, linkSecret), language: chooseLanguage(contact.locale, contact.projectLanguage) };
}

/**
 * Subscribes or unsubscribes a contact from their own pages (contract page 1, 3.9). Leaving is never refused; coming back
 * needs a signed link, for anybody may know an id.
 * @throws 404 CONTACT_NOT_FOUND, 403 for a subscription without a signed link
 */
export async function setOwnSubscription(
  sql: Sql,
  id: string,
  subscribed: boolean,
  { e, t }: LinkParameters,
  linkSecret: string,
) {
  const contact = await known(sql, id);
  if (subscribed && !verifyLinkToken(contact.id, t, linkSecret))
    throw forbidden('Only the link from one of your mails can subscribe you again');
  await changeOwnSubscription(sql, contact.id, subscribed, newId(), e !== undefined && isUuid(e) ? e : null);
  return shown({ ...contact, subscribed }, t, linkSecret);
}

function shown(contact: PublicContactRow, token: string | undefined, linkSecret: string) {
  const { id, email, subscribed } = contact;
  return { id, email: verifyLinkToken(id, token, linkSecret) ? email : null, subscribed };
}

async function known(sql: Sql, id: string): Promise<PublicContactRow> {
  const contact = await findPublicContact(sql, id);
  if (contact === null) throw notFound('contact', id);
  return contact;
}

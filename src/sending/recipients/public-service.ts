import { verifyLinkToken } from '@fernpost/message-content';
import { chooseLanguage } from '@fernpost/service-texts';
import type { Database } from '../../core/database/sql.ts';
import { forbidden, notFound } from '../../core/lib/errors.ts';
import { isUuid, newId } from '../../core/lib/ids.ts';
import { changeOwnSubscription, findPublicContact, type PublicContactRow } from './public-queries.ts';

/** What a link to a recipient's pages carries beside the contact's id. */
export interface LinkParameters {
  /** The mail the recipient came from; counts only when it is theirs. */
  e?: string | undefined;
  /** The signature that proves that we made the link. */
  t?: string | undefined;
}

/** What makes a link one of ours. */
export interface LinkTrust {
  LINK_SECRET: string;
  /** Secrets of links that are accepted, LINK_SECRET first. */
  linkSecrets: readonly string[];
  /** Accepts links without a signature for everything. */
  RECIPIENT_LINKS_UNSIGNED: boolean;
}

/** Whether a link is one of ours, as far as `t` tells. */
export function isOurLink(contactId: string, { t }: LinkParameters, trust: LinkTrust): boolean {
  return trust.RECIPIENT_LINKS_UNSIGNED || trust.linkSecrets.some((secret) => verifyLinkToken(contactId, t, secret));
}

/**
 * A contact as their own pages show it (docs/contract/core.md#3-9). Ids of contacts are no secrets, so that the address is
 * told only to whoever holds a signed link; others see `b…@example.test` (docs/contract/platform.md#11-2).
 * @throws 404 CONTACT_NOT_FOUND
 */
export async function publicContact(db: Database, id: string, link: LinkParameters, trust: LinkTrust) {
  const contact = await known(db, id);
  return { ...shown(contact, link, trust), language: languageOf(contact) };
}

/** The language in which a contact is spoken to. */
export function languageOf({ locale, projectLanguage }: PublicContactRow) {
  return chooseLanguage(locale, projectLanguage);
}

/** A contact by their id, whatever their project; null when there is none. */
export async function recipient(db: Database, id: string): Promise<PublicContactRow | null> {
  return isUuid(id) ? findPublicContact(db, id) : null;
}

/**
 * Subscribes or unsubscribes a contact from their own pages (docs/contract/core.md#3-9). Leaving is never refused; coming back
 * needs a signed link, for anybody may know an id.
 * @throws 404 CONTACT_NOT_FOUND, 403 for a subscription without a signed link
 */
export async function setOwnSubscription(
  db: Database,
  id: string,
  subscribed: boolean,
  link: LinkParameters,
  trust: LinkTrust,
) {
  const contact = await known(db, id);
  if (subscribed && !isOurLink(contact.id, link, trust))
    throw forbidden(
      'Only a link in one of your emails can subscribe you again',
      undefined,
      'Pass on `t`, and `e`, of the link that the recipient followed.',
    );
  await changeOwnSubscription(db, contact.id, subscribed, newId(), mailOf(link));
  return shown({ ...contact, subscribed }, link, trust);
}

/**
 * Unsubscribes whoever an id belongs to, and does nothing for ids of nobody: the answer of a mail client's button and of a
 * link without a signature must not tell which contacts there are.
 */
export async function leaveQuietly(db: Database, id: string, link: LinkParameters): Promise<void> {
  if (isUuid(id)) await changeOwnSubscription(db, id, false, newId(), mailOf(link));
}

function mailOf({ e }: LinkParameters): string | null {
  return e !== undefined && isUuid(e) ? e : null;
}

function shown(contact: PublicContactRow, link: LinkParameters, trust: LinkTrust) {
  const { id, email, subscribed } = contact;
  return { id, email: isOurLink(id, link, trust) ? email : masked(email), subscribed };
}

function masked(email: string): string {
  const [first = ''] = email;
  return `${first}…${email.slice(email.lastIndexOf('@'))}`;
}

async function known(db: Database, id: string): Promise<PublicContactRow> {
  const contact = await findPublicContact(db, id);
  if (contact === null) throw notFound('contact', id);
  return contact;
}

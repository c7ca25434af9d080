import { fonts } from '@fernpost/email-document';
import { AppError } from '../../lib/errors.ts';
import { isUuid } from '../../lib/ids.ts';
import type { PageBrand } from '../../lib/texts/footer.ts';
import type { RecipientPage } from '../../lib/texts/page-html.ts';
import {
  chooseLanguage,
  type Language,
  noticePage,
  type PageName,
  type PageUrls,
  recipientPage,
  unknownPage,
} from '../../lib/texts/pages.ts';
import type { Database } from '../../store/sql.ts';
import { findBrand } from '../../templates/brand/service.ts';
import {
  countVisit,
  isOurLink,
  type LinkParameters,
  type LinkTrust,
  languageOf,
  leaveQuietly,
  recipient,
  setOwnSubscription,
  visitsPerWindow,
} from './public-service.ts';

/** The settings that the pages need. */
export interface PageSettings extends LinkTrust {
  API_URI: string;
  DASHBOARD_URI: string;
}

/** A page and the status it is answered with, or the page to go to instead. */
export type PageAnswer = { status: number; page: RecipientPage } | { goTo: string };

/** Who asks for which page. */
export interface RecipientPageRequest {
  name: PageName;
  contactId: string;
  link: LinkParameters;
  /** Header Accept-Language, for pages that must not tell anything about a contact. */
  accepts: string;
}

/**
 * Refuses somebody without a key who asks too often; counted over all processes.
 * @throws 429 RATE_LIMIT_EXCEEDED
 */
export async function limitVisits(db: Database, ip: string, { LINK_SECRET }: LinkTrust): Promise<void> {
  const retryAfter = await countVisit(db, ip, LINK_SECRET);
  if (retryAfter === null) return;
  throw new AppError(
    429,
    'RATE_LIMIT_EXCEEDED',
    `More than ${visitsPerWindow} requests in a minute from your address`,
    {
      details: { retryAfter },
      suggestion: `Wait ${retryAfter} s.`,
      headers: { 'Retry-After': String(retryAfter) },
    },
  );
}

/**
 * A page as it is opened. Changes nothing: programs that look into mail follow every link. A link that is not one of ours
 * gets the same answer whether or not somebody has that id.
 */
export async function openPage(
  db: Database,
  request: RecipientPageRequest,
  settings: PageSettings,
): Promise<PageAnswer> {
  const { name, contactId, link, accepts } = request;
  const contact = await recipient(db, contactId);
  if (contact === null || !isOurLink(contactId, link, settings)) {
    const leave = isUuid(contactId) ? pageUrls(contactId, { e: link.e }, settings) : null;
    return { status: 404, page: unknownPage(name, languageFor(accepts), leave) };
  }
  const { projectName: project, email: address, subscribed } = contact;
  const brand = await brandOf(db, contact.projectId);
  const known = { language: languageOf(contact), project, address, subscribed, brand };
  return { status: 200, page: recipientPage(name, known, pageUrls(contactId, link, settings)) };
}

// The postal address is Liquid in mail; here, where no contact's values are filled in, one with markup of it is left out.
async function brandOf(db: Database, projectId: string): Promise<PageBrand | null> {
  const kit = await findBrand(db, projectId);
  if (kit === null) return null;
  const { logoUrl, logoAlt, primaryColor, font, postalAddress } = kit;
  const isText = !/\{[{%]/.test(postalAddress);
  return { logoUrl, logoAlt, primaryColor, fontFamily: fonts[font], postalAddress: isText ? postalAddress : '' };
}

/**
 * Does what a page's form asks for and says where to go then, so that going back or reloading asks for nothing twice. To
 * leave needs no signature; without one nothing is revealed. Coming back by a link that is not ours is no page of anybody.
 */
export async function submitPage(
  db: Database,
  request: RecipientPageRequest,
  action: 'subscribe' | 'unsubscribe',
  settings: PageSettings,
): Promise<PageAnswer> {
  const { name, contactId, link, accepts } = request;
  const ours = isOurLink(contactId, link, settings);
  if (action === 'unsubscribe' && !ours) {
    await leaveQuietly(db, contactId, link);
    return { status: 200, page: noticePage('left', languageFor(accepts)) };
  }
  if (!ours || (await recipient(db, contactId)) === null)
    return openPage(db, { ...request, name: action === 'subscribe' ? 'subscribe' : name }, settings);
  await setOwnSubscription(db, contactId, action === 'subscribe', link, settings);
  return { goTo: pageUrls(contactId, link, settings)[name === 'manage' ? 'manage' : action] };
}

/** The page for a request that could not be served. */
export function troublePage(accepts: string, tooMany: boolean): RecipientPage {
  return noticePage(tooMany ? 'tooMany' : 'failed', languageFor(accepts));
}

/**
 * Where pages are when the API stands under another name than they do: a request for a page that reached the API goes
 * there, with its link's parameters (docs/contract/platform.md#11-2). Null when it has come to the right place.
 */
export function pageElsewhere(host: string, request: RecipientPageRequest, settings: PageSettings): string | null {
  const [api, pages] = [new URL(settings.API_URI), new URL(settings.DASHBOARD_URI)];
  if (api.host === pages.host || host !== api.host) return null;
  return `${pages.origin}${pageUrls(request.contactId, request.link, settings)[request.name]}`;
}

// Only what the link should carry goes on into other links.
function pageUrls(contactId: string, { e, t }: LinkParameters, { DASHBOARD_URI }: PageSettings): PageUrls {
  const query = new URLSearchParams({
    ...(e !== undefined && isUuid(e) ? { e } : {}),
    ...(t === undefined ? {} : { t }),
  }).toString();
  const base = new URL(DASHBOARD_URI).pathname.replace(/\/+$/, '');
  const url = (name: PageName) => `${base}/${name}/${encodeURIComponent(contactId)}${query === '' ? '' : `?${query}`}`;
  return { unsubscribe: url('unsubscribe'), subscribe: url('subscribe'), manage: url('manage') };
}

// RFC 9110, 12.5.4: the language of highest quality first; `*` says nothing.
function languageFor(accepts: string): Language {
  const wishes = accepts
    .slice(0, 500)
    .split(',')
    .map((part) => {
      const [tag = '', ...parameters] = part.split(';').map((piece) => piece.trim());
      const quality = Number(parameters.find((piece) => piece.startsWith('q='))?.slice(2) ?? 1);
      return { tag, quality: Number.isFinite(quality) ? quality : 0 };
    })
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality);
  return chooseLanguage(...wishes.map(({ tag }) => tag));
}

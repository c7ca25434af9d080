import type { Language } from './languages.ts';
import type { PageBrand } from './page-brand.ts';
import type { RecipientPage } from './page-html.ts';
import { textsIn } from './page-texts.ts';

/** The three pages of a recipient. */
export type PageName = 'unsubscribe' | 'subscribe' | 'manage';

/** A recipient whose link we have made. */
export interface KnownRecipient {
  language: Language;
  project: string;
  address: string;
  subscribed: boolean;
  brand: PageBrand | null;
}

/** Paths of the pages of one recipient, with what the link carried. */
export type PageUrls = Record<PageName, string>;

const bare = { project: null, address: null, form: null, preferences: null, footer: null, brand: null } as const;

/** A page for a recipient who came by a link that we have made. It says how things stand and offers the one change. */
export function recipientPage(name: PageName, recipient: KnownRecipient, urls: PageUrls): RecipientPage {
  const { language, project, address, subscribed, brand } = recipient;
  const texts = textsIn(language);
  const change = subscribed ? 'unsubscribe' : 'subscribe';
  const form = { url: urls.manage, fields: { action: change, page: name }, button: texts[change].button };
  const page = {
    language,
    project,
    address,
    brand,
    form,
    footer: texts.footer,
    preferences: name === 'manage' ? null : { url: urls.manage, label: texts.preferences },
  };
  if (name === 'manage')
    return {
      ...page,
      title: texts.manage.title,
      paragraphs: [subscribed ? texts.manage.subscribed : texts.manage.unsubscribed],
    };
  // Whoever leaves may have pressed the wrong button; whoever comes back has the link to the preferences.
  if (name === 'unsubscribe' && !subscribed)
    return {
      ...page,
      title: texts.unsubscribed.title,
      paragraphs: [texts.unsubscribed.text, texts.unsubscribed.offer],
    };
  if (name === 'subscribe' && subscribed)
    return { ...page, form: null, title: texts.subscribed.title, paragraphs: [texts.subscribed.text] };
  return { ...page, title: texts[name].title, paragraphs: [texts[name].ask] };
}

/**
 * The page for any link that is not one of ours, and for recipients who are gone: it tells neither which, nor anything
 * else. A link without its signature can still be used to leave; `leave` is null where there is nobody it could be for.
 */
export function unknownPage(name: PageName, language: Language, leave: PageUrls | null): RecipientPage {
  const { unknown, unsubscribe } = textsIn(language);
  const page = { ...bare, language, title: unknown.title };
  if (leave === null || name === 'subscribe') return { ...page, paragraphs: [unknown.text] };
  return {
    ...page,
    paragraphs: [unknown.text, unknown.leave],
    form: { url: leave.manage, fields: { action: 'unsubscribe', page: name }, button: unsubscribe.button },
  };
}

/** A page that only says something. */
export function noticePage(notice: 'left' | 'tooMany' | 'failed', language: Language): RecipientPage {
  const { title, text } = textsIn(language)[notice];
  return { ...bare, language, title, paragraphs: [text] };
}

import type { PageBrand } from './footer.ts';
import type { RecipientPage } from './page-html.ts';
import { easternTexts } from './page-texts-eastern.ts';
import { westernTexts } from './page-texts-western.ts';

/** The languages in which the service speaks to recipients (docs/contract/platform.md#11-3). */
export const languages = [
  'en',
  'nl',
  'fr',
  'de',
  'es',
  'it',
  'pt',
  'pl',
  'cs',
  'bg',
  'hi',
  'zh-CN',
  'zh-TW',
  'zh-HK',
] as const;

export type Language = (typeof languages)[number];

const known = new Map<string, Language>(languages.map((language) => [language.toLowerCase(), language]));
// Chinese is offered by region; what names only the language or the script goes to the region that writes so.
const chinese: Record<string, Language> = {
  zh: 'zh-CN',
  'zh-hans': 'zh-CN',
  'zh-sg': 'zh-CN',
  'zh-hant': 'zh-TW',
  'zh-mo': 'zh-HK',
};

/**
 * The language for a recipient: of the wishes given, the contact's locale before the project's language, the first that is
 * offered, by its exact code or by its base language; else English.
 */
export function chooseLanguage(...wishes: readonly (string | null | undefined)[]): Language {
  for (const wish of wishes) {
    const code = wish?.trim().toLowerCase().replaceAll('_', '-') ?? '';
    const parts = code.split('-');
    for (let length = parts.length; length > 0; length--) {
      const tag = parts.slice(0, length).join('-');
      const language = known.get(tag) ?? (Object.hasOwn(chinese, tag) ? chinese[tag] : undefined);
      if (language) return language;
    }
  }
  return 'en';
}

const rightToLeft = new Set(['ar', 'ckb', 'dv', 'fa', 'he', 'ks', 'ku', 'ps', 'sd', 'ug', 'ur', 'yi']);

/** In which direction a language is written, for the `dir` of a page. */
export function directionOf(language: string): 'ltr' | 'rtl' {
  return rightToLeft.has(language.split('-')[0]?.toLowerCase() ?? '') ? 'rtl' : 'ltr';
}

/**
 * The texts of recipient pages in one language. `{project}` stands for the project's name, `{address}` for the
 * recipient's address.
 */
export interface PageTexts {
  unsubscribe: { title: string; ask: string; button: string };
  /** Once somebody has left; `offer` stands before the button that takes it back. */
  unsubscribed: { title: string; text: string; offer: string };
  subscribe: { title: string; ask: string; button: string };
  subscribed: { title: string; text: string };
  /** The page of preferences; the button's texts are those of the two pages above. */
  manage: { title: string; subscribed: string; unsubscribed: string };
  /** A link that is incomplete, altered or of somebody who is gone; `leave` stands before an unsubscribe button. */
  unknown: { title: string; text: string; leave: string };
  /** Said to whoever leaves by such a link. */
  left: { title: string; text: string };
  tooMany: { title: string; text: string };
  failed: { title: string; text: string };
  /** Stands at the end of each page of a project, before the link to the preferences. */
  footer: string;
  preferences: string;
}

const texts: Record<Language, PageTexts> = { ...westernTexts, ...easternTexts };

/** The texts of a language. */
export function textsIn(language: Language): PageTexts {
  return texts[language];
}

/** The three pages of a recipient. */
export type PageName = 'unsubscribe' | 'subscribe' | 'manage';

/** A recipient whose link we have made. */
interface KnownRecipient {
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

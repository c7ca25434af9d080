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

import type { Language } from './languages.ts';
import { easternTexts } from './page-texts-eastern.ts';
import { westernTexts } from './page-texts-western.ts';

/**
 * What the pages of recipients say in one language. `{project}` stands for the project's name, `{address}` for the
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

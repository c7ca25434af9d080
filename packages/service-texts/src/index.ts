export { footerSource } from './footer.ts';
export { chooseLanguage, directionOf, type Language, languages } from './languages.ts';
export { type Letter, type LetterRequest, writeLetter } from './letter.ts';
export { letterKinds, mailTexts } from './letter-texts.ts';
export type { PageBrand } from './page-brand.ts';
export { pageHtml, type RecipientPage } from './page-html.ts';
export { pagePolicy } from './page-style.ts';
export { textsIn } from './page-texts.ts';
export { noticePage, type PageName, type PageUrls, recipientPage, unknownPage } from './pages.ts';

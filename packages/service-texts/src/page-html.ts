import { escapeHtml } from '@fernpost/renderer';
import { directionOf, type Language } from './languages.ts';
import { brandStyle, logoOf, type PageBrand } from './page-brand.ts';
import { style } from './page-style.ts';

/** What a page says; all of it is text, escaped where it is written. */
export interface RecipientPage {
  language: Language;
  title: string;
  /** Paragraphs; `{project}` and `{address}` in them stand for the values below. */
  paragraphs: readonly string[];
  project: string | null;
  address: string | null;
  /** The one thing that can be done on the page. */
  form: Form | null;
  /** Where the recipient's preferences are; null leaves the link out. */
  preferences: { url: string; label: string } | null;
  /** Says why the recipient sees the page; null where nobody is known. */
  footer: string | null;
  /** The look of the project; null for one without a brand kit, and where nobody is known. */
  brand: PageBrand | null;
}

/** A form of one button. */
interface Form {
  /** Path it is posted to. */
  url: string;
  /** Hidden fields. */
  fields: Readonly<Record<string, string>>;
  button: string;
}

/** Writes a page: one file, no script, nothing loaded from anywhere but the logo of the brand. */
export function pageHtml(page: RecipientPage): string {
  const { language, title, project, form, preferences, footer, brand } = page;
  const end = [
    footer === null ? '' : `<p>${filled(footer, page)}</p>`,
    preferences === null ? '' : `<p><a href="${escapeHtml(preferences.url)}">${escapeHtml(preferences.label)}</a></p>`,
    brand === null || brand.postalAddress === '' ? '' : `<address>${escapeHtml(brand.postalAddress)}</address>`,
  ].join('');
  return `<!doctype html>
<html lang="${language}" dir="${directionOf(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<title>${escapeHtml(project === null ? title : `${title} · ${project}`)}</title>
<style>${style}</style>${brand === null ? '' : `\n<style>${brandStyle(brand)}</style>`}
</head>
<body>
${brand === null ? '' : headHtml(brand, project ?? '')}<main>
<h1>${escapeHtml(title)}</h1>
${page.paragraphs.map((text) => `<p>${filled(text, page)}</p>`).join('\n')}
${form === null ? '' : formHtml(form)}
</main>
${end === '' ? '' : `<footer>${end}</footer>`}
</body>
</html>
`;
}

// The page's address names its recipient, which whoever serves the logo must not learn.
function headHtml(brand: PageBrand, project: string): string {
  const logo = logoOf(brand);
  if (logo === null) return `<header><bdi>${escapeHtml(project)}</bdi></header>\n`;
  const says = brand.logoAlt === '' ? project : brand.logoAlt;
  return `<header><img src="${escapeHtml(logo)}" alt="${escapeHtml(says)}" referrerpolicy="no-referrer"></header>\n`;
}

function formHtml({ url, fields, button }: Form): string {
  const hidden = Object.entries(fields).map(
    ([name, value]) => `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`,
  );
  return `<form method="post" action="${escapeHtml(url)}">${hidden.join('')}<button type="submit">${escapeHtml(button)}</button></form>`;
}

// Names and addresses may be written in another direction than the sentence around them.
function filled(text: string, { project, address }: RecipientPage): string {
  const values: Record<string, string> = { project: project ?? '', address: address ?? '' };
  return escapeHtml(text).replaceAll(
    /\{(project|address)\}/g,
    (_, name: string) => `<bdi>${escapeHtml(values[name] ?? '')}</bdi>`,
  );
}

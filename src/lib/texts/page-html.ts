import { createHash } from 'node:crypto';
import { escapeHtml } from '@fernpost/renderer';
import { brandStyle, logoOf, type PageBrand } from './footer.ts';
import { directionOf, type Language } from './pages.ts';

// Both palettes keep a contrast of 4.5 to 1 for text and 3 to 1 for what can be pressed (WCAG 2.2 AA). Sizes follow the
// reader's own font size, and lines break anywhere: an address may be longer than a narrow screen.
const rules = `
:root{color-scheme:light dark;--ink:#1f2328;--soft:#4b5563;--paper:#fff;--ground:#f3f4f6;--line:#d0d7de;--accent:#0b5cad;--onaccent:#fff}
@media (prefers-color-scheme:dark){:root{--ink:#f0f3f6;--soft:#b6bec9;--paper:#1c2128;--ground:#0f1318;--line:#3d444d;--accent:#6cb6ff;--onaccent:#0b1420}}
*{box-sizing:border-box}
body{margin:0;padding:1rem;min-height:100vh;display:flex;flex-direction:column;justify-content:center;align-items:center;font:1rem/1.5 system-ui,sans-serif;background:var(--ground);color:var(--ink);overflow-wrap:anywhere}
main{width:100%;max-width:32rem;padding:1.5rem;background:var(--paper);border:1px solid var(--line);border-radius:.5rem}
h1{margin:0 0 .75rem;font-size:1.5rem;line-height:1.25}
p{margin:0 0 1rem}
form{margin:0}
button{min-height:2.75rem;padding:.5rem 1.25rem;font:inherit;font-weight:600;color:var(--onaccent);background:var(--accent);border:2px solid transparent;border-radius:.375rem;cursor:pointer}
a{color:var(--accent)}
a,button{outline-offset:3px}
a:focus-visible,button:focus-visible{outline:3px solid var(--accent)}
footer{width:100%;max-width:32rem;padding:1rem .5rem;font-size:.875rem;color:var(--soft);text-align:center}
footer a{display:inline-block;padding:.25rem}
header{width:100%;max-width:32rem;padding:0 .5rem 1rem;font-weight:600;text-align:center}
header img{display:block;margin:0 auto;max-width:100%;max-height:4rem;padding:.5rem;background:#fff;border-radius:.375rem}
address{font-style:normal;white-space:pre-line}
`.trim();

/** The one style sheet of the pages, as it stands in them. */
const style = rules;

/** Returns the Content-Security-Policy of a page: the browser may apply its style sheets, show its logo and send its form back here. Nothing else, no script. */
export function pagePolicy({ brand }: { brand: PageBrand | null }): string {
  const sheets = [rules, ...(brand === null ? [] : [brandStyle(brand)])];
  const styles = sheets.map((sheet) => `'sha256-${createHash('sha256').update(sheet).digest('base64')}'`).join(' ');
  const logo = logoOf(brand)?.replace(/[?#].*$/, '');
  return (
    `default-src 'none'; style-src ${styles}; ${logo === undefined ? '' : `img-src ${logo}; `}form-action 'self'; ` +
    `base-uri 'none'; frame-ancestors 'none'`
  );
}

/** The texts of a page, escaped where they are written. */
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

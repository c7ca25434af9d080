import { escapeHtml } from '@posthorn/renderer';
import { directionOf, type Language } from './languages.ts';
import { style } from './page-style.ts';

/** What a page says; all of it is text, escaped where it is written. */
export interface Page {
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
}

/** A form of one button. */
interface Form {
  /** Path it is posted to. */
  url: string;
  /** Hidden fields. */
  fields: Readonly<Record<string, string>>;
  button: string;
}

/** Writes a page: one file, no script, nothing loaded from anywhere. */
export function pageHtml(page: Page): string {
  const { language, title, project, form, preferences, footer } = page;
  const end = [
    footer === null ? '' : `<p>${filled(footer, page)}</p>`,
    preferences === null ? '' : `<p><a href="${escapeHtml(preferences.url)}">${escapeHtml(preferences.label)}</a></p>`,
  ].join('');
  return `<!doctype html>
<html lang="${language}" dir="${directionOf(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<title>${escapeHtml(project === null ? title : `${title} · ${project}`)}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
${page.paragraphs.map((text) => `<p>${filled(text, page)}</p>`).join('\n')}
${form === null ? '' : formHtml(form)}
</main>
${end === '' ? '' : `<footer>${end}</footer>`}
</body>
</html>
`;
}

function formHtml({ url, fields, button }: Form): string {
  const hidden = Object.entries(fields).map(
    ([name, value]) => `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`,
  );
  return `<form method="post" action="${escapeHtml(url)}">${hidden.join('')}<button type="submit">${escapeHtml(button)}</button></form>`;
}

// Names and addresses may be written in another direction than the sentence around them.
function filled(text: string, { project, address }: Page): string {
  const values: Record<string, string> = { project: project ?? '', address: address ?? '' };
  return escapeHtml(text).replaceAll(
    /\{(project|address)\}/g,
    (_, name: string) => `<bdi>${escapeHtml(values[name] ?? '')}</bdi>`,
  );
}

import { createHash } from 'node:crypto';
import { brandStyle, logoOf, type PageBrand } from './page-brand.ts';

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
export const style = rules;

/** What the browser may do with a page: apply its style sheets, show its logo and send its form back here. Nothing else, no script. */
export function pagePolicy({ brand }: { brand: PageBrand | null }): string {
  const sheets = [rules, ...(brand === null ? [] : [brandStyle(brand)])];
  const styles = sheets.map((sheet) => `'sha256-${createHash('sha256').update(sheet).digest('base64')}'`).join(' ');
  const logo = logoOf(brand)?.replace(/[?#].*$/, '');
  return (
    `default-src 'none'; style-src ${styles}; ${logo === undefined ? '' : `img-src ${logo}; `}form-action 'self'; ` +
    `base-uri 'none'; frame-ancestors 'none'`
  );
}

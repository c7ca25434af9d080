import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { sanitizeHtml } from '../../src/domains/providers/received-html.ts';
import { inPage, sharedBrowser } from '../support/browser.ts';
import { xssVectors } from '../support/xss-vectors.ts';

// Runs in the page: shows each mail there and in a document of its own, and answers what came of it that must not.
const show = `async (mails) => {
  const problems = [];
  let current = 0;
  const report = (what) => problems.push(current + ' ' + what);
  window.alert = () => report('ran a script');
  const forbidden =
    'script,style,iframe,object,embed,svg,math,form,input,button,select,textarea,link,meta,base,video,audio,template';
  const judge = (root) => {
    for (const element of root.querySelectorAll('*')) {
      if (element.matches(forbidden)) report('made ' + element.localName);
      for (const { name } of element.attributes) if (/^(?:on|srcset|is$|id$)/.test(name)) report('kept ' + name);
      const link = element.getAttribute('href') ?? element.getAttribute('src');
      if (link !== null && !/^(?:https?|mailto):$/.test(new URL(link, 'x:').protocol)) report('links to ' + link);
      if (/url|fixed/.test(element.style?.cssText)) report('is styled ' + element.style.cssText);
      element.dispatchEvent(new MouseEvent('mouseover', { bubbles: true }));
      if (link === null) element.click?.();
    }
  };
  for (const mail of mails) {
    const place = document.body.appendChild(document.createElement('div'));
    place.innerHTML = mail;
    judge(place);
    // What is serialized and read again must not become something else.
    place.innerHTML = place.innerHTML;
    judge(place);
    const frame = document.body.appendChild(document.createElement('iframe'));
    frame.srcdoc = '<script>window.alert = () => parent.alert()</' + 'script><main>' + mail + '</main>';
    await new Promise((resolve) => frame.addEventListener('load', resolve, { once: true }));
    judge(frame.contentDocument.querySelector('main'));
    place.remove();
    frame.remove();
    current += 1;
  }
  return problems;
}`;

const problemsOf = (page: Page, mails: readonly string[]) =>
  page.evaluate<string[]>(`(${show})(${JSON.stringify(mails)})`);

test('no sanitized mail runs a script in a browser, or makes an element or a link that is not allowed', async () => {
  const browser = await sharedBrowser();
  await inPage(browser, {}, async (page) => {
    await page.route('**/*', (route) => route.abort());
    const raw = ['<img src=x: onerror=alert(1)>', '<a href="javascript:alert(1)">x</a>', '<svg></svg>'];
    const found = await problemsOf(page, raw);
    for (const problem of ['0 ran a script', '0 kept onerror', '1 links to javascript:alert(1)', '2 made svg'])
      expect(found).toContain(problem);
    expect(await problemsOf(page, xssVectors.map(sanitizeHtml))).toEqual([]);
  });
});

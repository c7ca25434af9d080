import { parseLimits, StepLimitError } from '@fernpost/renderer';
import { expect, test } from 'vitest';
import { countSteps, growth, linear } from '../../packages/renderer/test/counted-steps.ts';
import { hostileTemplates } from '../../packages/renderer/test/hostile-templates.ts';
import { prepareContent } from '../../src/templates/content/prepare.ts';

const links = { pagesUrl: 'https://m.example', apiUrl: 'https://m.example', secret: 'secret' };
const list = Array.from({ length: 50 }, (_, i) => i);
const contact = {
  id: '1',
  email: 'a@b.example',
  subscribed: true,
  data: { a: 'x', b: list, text: 'word '.repeat(50) },
};

function send(body: string): void {
  const content = prepareContent(
    { subject: 'x', body, messageClass: 'MARKETING', projectName: 'P', language: 'en', escapeContactData: true },
    links,
  );
  try {
    content.renderFor({ emailId: null, contact, isCampaign: true });
  } catch (error) {
    if (!(error instanceof StepLimitError)) throw error;
  }
}

// The first of the file: once steps have been counted, V8 compiles nothing any more, and what fails forty times here takes ten times as long.
test('what never stays within its steps is not tried for ever; what did once is the fault of its values', () => {
  const source = '{% for i in many %}{% for j in many %}{{ j }}{% endfor %}{% endfor %}';
  const to = (many: number) => ({
    emailId: null,
    isCampaign: true,
    contact: { ...contact, data: { many: Array.from({ length: many }, () => 1) } },
  });
  const prepared = () =>
    prepareContent(
      {
        subject: 'x',
        body: source,
        messageClass: 'HEADLESS',
        projectName: 'P',
        language: 'en',
        escapeContactData: true,
      },
      links,
    );
  const hopeless = prepared();
  for (let i = 0; i < 20; i++) expect(() => hopeless.fillFor(to(1_000))).toThrow(StepLimitError);
  expect(() => hopeless.fillFor(to(1))).toThrow(StepLimitError);
  expect(countSteps(() => expect(() => hopeless.fillFor(to(1_000))).toThrow())).toBeLessThan(10_000);

  const sound = prepared();
  expect(String(sound.fillFor(to(1)).html)).toContain('1');
  for (let i = 0; i < 21; i++) expect(() => sound.fillFor(to(1_000))).toThrow(StepLimitError);
  expect(String(sound.fillFor(to(2)).html)).toContain('1111');
});

test.each(Object.entries(hostileTemplates))('%s: steps grow in proportion to the size', (_, template) => {
  const work = (n: number) => {
    const source = template(n);
    return () => send(source);
  };
  expect(growth(work, 150)).toBeLessThan(linear);
});

test('a template of too many steps fails the mail it is sent with', () => {
  const source = `<p>ok</p>\n${'{{ name }} '.repeat(parseLimits.steps / 10)}`;
  const content = prepareContent(
    {
      subject: 'x',
      body: source,
      messageClass: 'TRANSACTIONAL',
      projectName: 'P',
      language: 'en',
      escapeContactData: true,
    },
    links,
  );
  expect(() => content.fillFor({ emailId: null, contact, isCampaign: false })).toThrow(/40,000 steps to parse/);
});

test('markup from a value is only converted to text as far as its steps go', () => {
  const content = prepareContent(
    {
      subject: 'x',
      body: '{{ a | raw }}',
      messageClass: 'HEADLESS',
      projectName: 'P',
      language: 'en',
      escapeContactData: true,
    },
    links,
  );
  const withMarkup = (a: string) =>
    content.fillFor({ emailId: null, isCampaign: true, contact: { ...contact, data: { a } } });
  expect(String(withMarkup('<p>a</p>'.repeat(1_000)).text)).toHaveLength(1_000 + 2 * 999);
  expect(() => withMarkup('<b>a</b>'.repeat(20_000))).toThrow(/text part of the message/);
});

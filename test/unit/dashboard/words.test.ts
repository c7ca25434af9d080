import { readdirSync, readFileSync } from 'node:fs';
import { parseAst } from 'rolldown/parseAst';
import { describe, expect, test } from 'vitest';
import { instantOf, timeZones, wallClock } from '../../../dashboard/src/pages/campaigns/rules/zones.ts';
import { summary } from '../../../dashboard/src/pages/workflows/graph/graph.ts';
import { eventText } from '../../../dashboard/src/words/events.ts';
import { healthOf } from '../../../dashboard/src/words/health.ts';
import { counted, rate } from '../../../dashboard/src/words/numbers.ts';
import { fieldSentence, firstOfEach, plainSentence, stepSentence } from '../../../dashboard/src/words/sentences.ts';
import { subjectText } from '../../../dashboard/src/words/subjects.ts';
import { momentText } from '../../../dashboard/src/words/times.ts';

// Instants of the zone that the tests run in, since the page counts days of the viewer's calendar.
const now = new Date(2026, 10, 22, 18, 0).getTime();
const at = (day: number, hour: number, minute = 0) => new Date(2026, 10, day, hour, minute).getTime();

describe('times', () => {
  test.each([
    ['less than two full days, but two days of the calendar', at(24, 6, 27), 'in 2 days (Nov 24, 6:27 AM)'],
    ['the next morning', at(23, 9), 'in 15 hours (Nov 23, 9:00 AM)'],
    ['later today', at(22, 20, 5), 'in 2 hours (8:05 PM)'],
    ['the next minute', now + 20_000, 'in less than a minute'],
    ['just passed', now - 20_000, 'just now'],
    ['yesterday', at(21, 12), '1 day ago'],
    ['long ago', new Date(2025, 2, 1, 9, 30).getTime(), 'Mar 1, 2025, 9:30 AM'],
    ['far ahead', new Date(2026, 11, 24, 9, 30).getTime(), 'Dec 24, 9:30 AM'],
  ])('%s', (_, instant, text) => expect(momentText(instant, now)).toBe(text));

  test('the date comes first after a preposition', () => {
    expect(momentText(at(24, 6, 27), now, true)).toBe('Nov 24, 6:27 AM (in 2 days)');
    expect(momentText(now + 20_000, now, true)).toBe('Nov 22, 6:00 PM (in less than a minute)');
  });
});

describe('clocks of time zones', () => {
  test.each([
    ['winter', '2026-12-01T09:00', 'Europe/Berlin', '2026-12-01T08:00Z', '2026-12-01T09:00'],
    ['summer', '2026-07-01T09:00', 'America/New_York', '2026-07-01T13:00Z', '2026-07-01T09:00'],
    ['half an hour beside the others', '2026-07-01T00:15', 'Asia/Kolkata', '2026-06-30T18:45Z', '2026-07-01T00:15'],
    ['just after clocks go forward', '2027-03-28T03:00', 'Europe/Berlin', '2027-03-28T01:00Z', '2027-03-28T03:00'],
    ['a time that is skipped', '2027-03-28T02:30', 'Europe/Berlin', '2027-03-28T01:30Z', '2027-03-28T03:30'],
    ['a time that is shown twice', '2026-10-25T02:30', 'Europe/Berlin', '2026-10-25T00:30Z', '2026-10-25T02:30'],
    ['just after clocks go back', '2026-10-25T03:00', 'Europe/Berlin', '2026-10-25T02:00Z', '2026-10-25T03:00'],
    ['as far east as it gets', '2026-12-01T09:00', 'Pacific/Kiritimati', '2026-11-30T19:00Z', '2026-12-01T09:00'],
  ])('%s', (_, wall, zone, instant, shown) => {
    expect(instantOf(wall, zone)).toBe(Date.parse(instant));
    expect(wallClock(Date.parse(instant), zone)).toBe(shown);
  });

  test('a text that is no time has no instant, and UTC is among the zones', () => {
    expect(instantOf('', 'UTC')).toBeNaN();
    expect(timeZones()).toEqual(expect.arrayContaining(['UTC', 'Europe/Berlin']));
  });
});

test('counts have their noun, and rates no space', () => {
  expect([counted(0, 'day'), counted(1, 'day'), counted(1_924, 'contact')]).toEqual([
    '0 days',
    '1 day',
    '1,924 contacts',
  ]);
  expect(rate(39.5)).toBe('39.5%');
});

describe('problems of fields', () => {
  test.each([
    ['newPassword', 'must have at least 6 characters', 'Passwords have at least 6 characters.'],
    ['fromName', 'fromName must not be empty', 'From name must not be empty.'],
    ['to.1', 'must be an email address', 'To must be an email address.'],
    ['steps.0.config.url', 'must be a URL', 'URL must be a URL.'],
    ['steps.1.config.eventName', 'Step "Wait": is required', 'Wait: Choose the event to wait for.'],
    ['triggerConfig.eventName', 'is required for the trigger EVENT', 'Choose the event that starts the workflow.'],
    ['', 'Choose a segment', 'Choose a segment.'],
  ])('%s: %s', (field, message, text) => expect(fieldSentence({ field, message })).toBe(text));

  test('a quoted path at the beginning becomes a label', () => {
    expect(plainSentence('"password" is invalid: must have at least 6 characters')).toBe(
      'Passwords have at least 6 characters.',
    );
    expect(plainSentence('The campaign is already sending')).toBe('The campaign is already sending.');
  });
});

describe('problems of a step', () => {
  test.each([
    ['config.eventName', 'Step "Wait for event": is required', 'Choose the event to wait for.'],
    ['config.eventName', 'Step "Wait: "now"": eventName must not be empty', 'Choose the event to wait for.'],
    ['templateId', 'Step "Send email": needs a template', 'Choose a template.'],
    ['config.recipient.customEmail', 'is required for the recipient type CUSTOM', 'Enter the address to send to.'],
    ['config.amount', 'Step "Delay": must be greater than 0', 'Amount must be greater than 0.'],
    ['config.url', 'Step "Webhook": url must not be empty', 'Enter the URL to call.'],
    [
      'config',
      'Step "Update contact": must change at least one field, or "subscriptionAction" must subscribe or unsubscribe',
      'Set a field, or subscribe or unsubscribe the contact.',
    ],
    [
      'transitions',
      'Step "End" is an EXIT: no step can follow it',
      'The workflow ends here. Remove the path that leads on.',
    ],
    [
      'transitions',
      'Step "Mail" is a SEND_EMAIL and already leads to another step',
      'Only one path can lead on from here. Remove the others.',
    ],
  ])('%s: %s', (field, message, text) => expect(stepSentence({ field, message })).toBe(text));

  test('an empty field has one problem, and the same field of another step its own', () => {
    const url = (stepId: string, message: string) => ({ stepId, field: 'config.url', message });
    const problems = [url('a', 'url must not be empty'), url('a', 'must begin with https://'), url('b', 'is required')];
    expect(firstOfEach(problems)).toEqual([problems[0], problems[2]]);
  });
});

describe('subjects as lists show them', () => {
  test.each([
    ['The herons are back', 'The herons are back'],
    ['Hi {{ firstName ?? "there" }}, the herons are back', 'Hi [first name], the herons are back'],
    ['{{data.plan | upcase}} for {{ contact.email }}', '[plan] for [email]'],
    ['{{ data["first name"] }}{{{ "!" }}}', '[first name]!'],
    ['Sale {% if vip %}for you{% else %}today{% endif %}, {{company_name}}', 'Sale …, [company name]'],
    ['{% assign x = 1 %}News', 'News'],
    ['A brace {{ alone', 'A brace {{ alone'],
  ])('%s', (subject, text) => expect(subjectText(subject)).toBe(text));
});

describe('events', () => {
  test.each([
    ['email.delivery', 'Email delivered'],
    ['contact.unsubscribed', 'Contact unsubscribed'],
    ['segment.Active.exit', 'Left segment “Active”'],
    ['order.paid', 'order.paid'],
  ])('%s is called %s', (event, text) => expect(eventText(event)).toBe(text));

  test('the trigger of a workflow calls them so too', () => {
    expect(summary({ type: 'TRIGGER', config: { eventName: 'email.delivery' } })).toBe('On Email delivered');
  });

  test.each([
    ['CONTACT_CREATED', 'When a contact is created'],
    ['SCHEDULE', 'On a schedule'],
    ['MANUAL', 'Manually or by the API'],
    ['EVENT', 'No event set'],
    ['DATE', 'No field set'],
  ])('a trigger %s without an event says what it is', (triggerType, text) => {
    expect(summary({ type: 'TRIGGER', config: {}, triggerType })).toBe(text);
    // A version of a graph does not tell the type of its trigger, but its name does.
    const name = `Trigger: ${triggerType.toLowerCase().replace('_', ' ')}`;
    expect(summary({ type: 'TRIGGER', config: {}, name })).toBe(text);
  });
});

test('bounces that are high are not healthy at once: the limits alone decide', () => {
  const high = 'The number of emails that bounced is high';
  const sevenDay = { total: 300 };
  expect(healthOf({ violations: [], warnings: [high], sevenDay })).toEqual({ level: 'warning', sentences: [high] });
  expect(healthOf({ violations: [high], warnings: [], sevenDay }).level).toBe('critical');
  expect(healthOf({ violations: [], warnings: [], sevenDay }).level).toBe('healthy');
  expect(healthOf({ violations: [], warnings: [], sevenDay: { total: 99 } }).level).toBeNull();
});

// Names of the API that people never read in the dashboard, each with what it says instead.
const internal: readonly [RegExp, string][] = [
  [/\bcanar(?:y|ies)\b/i, 'send to a few first'],
  [/\bheadless\b/i, 'own footer'],
  [/\bexecutions?\b/i, 'run'],
  [/^either$/, 'in both cases'],
  [/\bemail\.(?:sent|delivery|open|click|bounce|complaint|failed|received)\b/, 'the name that words/events.ts has'],
];

test('no text of the dashboard has a name of the API', () => {
  const folder = new URL('../../../dashboard/src/', import.meta.url).pathname;
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /(?<!\.d)\.tsx?$/.test(path),
  );
  const found = files.flatMap((path) => {
    const source = readFileSync(folder + path, 'utf8');
    // Most files have none anywhere, and need not be parsed.
    if (!/canar|headless|execution|either|email\./i.test(source)) return [];
    return textsOf(path, source).flatMap((text) =>
      internal.flatMap(([name, instead]) => (name.test(text) ? [`${path}: ${text} (say: ${instead})`] : [])),
    );
  });
  expect(files.length).toBeGreaterThan(300);
  expect(found).toEqual([]);
});

/** The texts of a file that people read: those between tags, and strings that are no single word of the code, path or import. */
function textsOf(path: string, source: string): string[] {
  const texts: string[] = [];
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) node.forEach(visit);
    if (typeof node !== 'object' || node === null || !('type' in node)) return;
    const { type, value } = node as { type: unknown; value?: unknown };
    if (type === 'ImportDeclaration' || type === 'ImportExpression') return;
    const text = type === 'TemplateElement' ? (value as { raw: string }).raw : value;
    if (typeof text === 'string' && (type === 'JSXText' || isRead(text))) texts.push(text.trim());
    Object.values(node).forEach(visit);
  };
  visit(parseAst(source, { lang: path.endsWith('x') ? 'tsx' : 'ts' }));
  return texts;
}

function isRead(text: string): boolean {
  return text === 'either' || (/^[A-Z]|\s/.test(text.trim()) && !/^[A-Z_]+$|^\.?\.?\//.test(text));
}

test('no place shows the variables of a subject as they are written', () => {
  const folder = new URL('../../../dashboard/src/pages/', import.meta.url);
  // These two show what the service has rendered for a contact.
  const rendered = ['campaigns/review/Samples.tsx', 'mail/MailPreview.tsx'];
  const raw = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (file) =>
      file.endsWith('.tsx') && /(>\{|about: )\w+(\.\w+)*\.subject\b/.test(readFileSync(new URL(file, folder), 'utf8')),
  );
  expect(raw.toSorted()).toEqual(rendered);
});

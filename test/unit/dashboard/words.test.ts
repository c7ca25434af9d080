import { describe, expect, test } from 'vitest';
import { counted, rate } from '../../../dashboard/src/words/numbers.ts';
import { fieldSentence, plainSentence } from '../../../dashboard/src/words/sentences.ts';
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
    ['steps.1.config.eventName', 'Step "Wait": is required', 'Step "Wait": Event is required.'],
    ['', 'Choose a segment', 'Choose a segment.'],
  ])('%s: %s', (field, message, text) => expect(fieldSentence({ field, message })).toBe(text));

  test('a quoted path at the beginning becomes a label', () => {
    expect(plainSentence('"password" is invalid: must have at least 6 characters')).toBe(
      'Passwords have at least 6 characters.',
    );
    expect(plainSentence('The campaign is already sending')).toBe('The campaign is already sending.');
  });
});

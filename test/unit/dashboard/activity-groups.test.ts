import { contactName } from '@fernpost/email-document/contact-name';
import { expect, test } from 'vitest';
import { type ActivityItem, groupedActivity, joinedGroups } from '../../../dashboard/src/words/activity-groups.ts';

let made = 0;
const event = (eventName: string): ActivityItem => {
  made += 1;
  return {
    id: `event_${made}`,
    type: 'event.triggered',
    timestamp: '2026-11-28T00:00:00.000Z',
    metadata: { eventName },
  };
};
const sizes = (groups: ReturnType<typeof groupedActivity>) => groups.map(({ items }) => items.length);

test('neighbors that entered one segment are one group; other events and other segments stay apart', () => {
  const entered = () => event('segment.Members.entry');
  expect(
    sizes(
      groupedActivity([
        entered(),
        entered(),
        event('segment.Members.exit'),
        event('segment.Friends.entry'),
        event('signed_up'),
        event('signed_up'),
        entered(),
      ]),
    ),
  ).toEqual([2, 1, 1, 1, 1, 1]);
});

test('a group goes on over the end of a page, and pages keep their own groups', () => {
  const page = groupedActivity([event('signed_up'), event('segment.Members.entry')]);
  const next = groupedActivity([event('segment.Members.entry'), event('segment.Members.entry')]);
  expect(sizes(joinedGroups([...page, ...next]))).toEqual([1, 3]);
  expect([sizes(page), sizes(next)]).toEqual([[1, 1], [2]]);
});

test.each([
  [{ firstName: 'Anna', lastName: 'Berg' }, 'Anna Berg'],
  [{ 'First Name': 'Anna', last_name: ' ' }, 'Anna'],
  [{ name: 'Ole Janssen', plan: 'pro' }, 'Ole Janssen'],
  [{ firstname: 7, plan: 'pro' }, null],
])('the name by %j is %s', (data, name) => expect(contactName(data)).toBe(name));

import { expect, test } from 'vitest';
import { BodyBudget } from '../../../src/http/bodies/budget.ts';
import { notFound } from '../../../src/lib/errors.ts';
import { replyTo } from '../../../src/mail/smtp-in/accept.ts';

test('a message that there is no memory for is to be sent again', async () => {
  const budget = new BodyBudget({ total: 10, share: 10, waitMs: 1 });
  const refusal = await budget.take('acme', 11).catch((error: unknown) => error);
  expect(replyTo(refusal)?.line).toBe('451 4.3.0 Temporarily unavailable, try again later');
});

test('what no repetition changes is refused, and what nobody foresaw is told apart', () => {
  expect(replyTo(notFound('template', 'welcome'))?.responseCode).toBe(550);
  expect(replyTo(new TypeError('x is undefined'))).toBeNull();
});

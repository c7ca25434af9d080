import { sandboxWebhookUser } from '@fernpost/earlier-name';
import { expect, test } from 'vitest';
import { mayNotify } from '../../../src/feedback/reports/webhooks.ts';

test('only the configured credentials or token are let in, and without either nobody is', () => {
  const config = {
    POSTMARK_WEBHOOK_USER: 'fernpost',
    POSTMARK_WEBHOOK_PASSWORD: 'a secret: with a colon',
    POSTMARK_WEBHOOK_TOKEN: null,
  };
  const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
  expect(mayNotify(config, basic('fernpost:a secret: with a colon'), null)).toBe(true);
  expect(mayNotify(config, basic('fernpost:a secret: with a colon').replace('Basic', 'basic'), null)).toBe(true);
  expect(mayNotify(config, basic(`${sandboxWebhookUser}:a secret: with a colon`), null)).toBe(true);
  const named = { ...config, POSTMARK_WEBHOOK_USER: 'postmark' };
  expect(mayNotify(named, basic(`${sandboxWebhookUser}:a secret: with a colon`), null)).toBe(false);
  for (const wrong of [
    '',
    'Basic',
    'Basic !',
    basic(''),
    basic(':'),
    basic('fernpost:'),
    basic('fernpost:other'),
    'Bearer x',
  ])
    expect(mayNotify(config, wrong, 'a secret: with a colon')).toBe(false);
  const byToken = { POSTMARK_WEBHOOK_USER: null, POSTMARK_WEBHOOK_PASSWORD: null, POSTMARK_WEBHOOK_TOKEN: 't0ken' };
  expect(mayNotify(byToken, '', 't0ken')).toBe(true);
  for (const wrong of [null, '', 't0ke', 't0kens']) expect(mayNotify(byToken, basic('null:null'), wrong)).toBe(false);
  const neither = { ...byToken, POSTMARK_WEBHOOK_TOKEN: null };
  for (const guess of [null, '', 'null']) expect(mayNotify(neither, basic('null:null'), guess)).toBe(false);
});

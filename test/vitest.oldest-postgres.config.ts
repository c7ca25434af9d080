import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const root = fileURLToPath(new URL('..', import.meta.url));

process.env.TEST_POSTGRES_BIN ??= '/usr/lib/postgresql/15/bin';

/**
 * Migrations, the API and a campaign on the oldest Postgres that is supported; `npm test` runs everything on the newest. These files reach nearly every
 * statement of the API in a minute or two: what is left out repeats their statements under load, crashes or time.
 */
const files = [
  'test/db/automation-rows.test.ts',
  'test/db/conditions.test.ts',
  'test/db/functions.test.ts',
  'test/db/jit.test.ts',
  'test/db/migrate.test.ts',
  'test/db/migrate-traffic.test.ts',
  'test/db/retention.test.ts',
  'test/db/schema.test.ts',
  'test/api/insight/analytics.test.ts',
  'test/api/automations/automation-graphs.test.ts',
  'test/api/automations/automations.test.ts',
  'test/api/platform/billing.test.ts',
  'test/api/audience/bulk.test.ts',
  'test/api/sending/campaign-audiences.test.ts',
  'test/api/sending/campaign-recipients.test.ts',
  'test/api/sending/campaigns.test.ts',
  'test/api/audience/contact-fields.test.ts',
  'test/api/audience/contacts*.test.ts',
  'test/api/core/database-limits.test.ts',
  'test/api/platform/domains.test.ts',
  'test/api/audience/events.test.ts',
  'test/api/core/foundation.test.ts',
  'test/api/platform/projects.test.ts',
  'test/api/sending/recipient-pages.test.ts',
  'test/api/audience/segments*.test.ts',
  'test/api/sending/send.test.ts',
  'test/api/platform/sessions.test.ts',
  'test/api/platform/sign-up.test.ts',
  'test/api/audience/suppressions.test.ts',
  'test/api/content/templates.test.ts',
  'test/api/audience/track.test.ts',
  'test/api/audience/usage.test.ts',
  'test/api/sending/webhooks.test.ts',
  'test/workflows/campaign-send.test.ts',
];

export default defineConfig({
  test: {
    root,
    name: 'oldest Postgres',
    include: files,
    pool: 'forks',
    isolate: false,
    maxWorkers: Math.min(availableParallelism() + 1, 16),
    reporters: ['default', 'json'],
    outputFile: { json: fileURLToPath(new URL('../.cache/test-results-oldest-postgres.json', import.meta.url)) },
    expect: { poll: { timeout: 300_000, interval: 50 } },
    testTimeout: 1_800_000,
    hookTimeout: 1_800_000,
    globalSetup: [fileURLToPath(new URL('./support/services.ts', import.meta.url))],
  },
});

import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Of the tests in a browser, those of the pages that a change of something else breaks first. `npm test` runs them. */
const browserBasics = [
  'accounts.test.ts',
  'campaign-results.test.ts',
  'contacts.test.ts',
  'lost-updates.test.ts',
  'recipient-pages.test.ts',
  'why.test.ts',
];

/** The other tests in a browser, which would take a third of the time of `npm test`: pages in both themes, by mouse and by keyboard. */
export const browserTests = readdirSync(fileURLToPath(new URL('browser', import.meta.url)))
  .filter((name) => name.endsWith('.test.ts') && !browserBasics.includes(name))
  .map((name) => `test/browser/${name}`);

/** Other files that take too long for `npm test`, the longest first. `npm run test:soak` runs them and those above, and CI does. */
export const longTests = [
  'test/e2e/clients.test.ts',
  'test/e2e/point-in-time.test.ts',
  'test/api/core/idempotency-kills.test.ts',
  'test/api/core/openapi-clients.test.ts',
  'test/workflows/temporal-store.test.ts',
  'test/start/guides.test.ts',
  'test/e2e/erasure-killed.test.ts',
  'test/e2e/drill.test.ts',
  'test/api/clients/cli-work.test.ts',
  'test/api/clients/cli-project.test.ts',
  'test/api/clients/cli.test.ts',
  'test/db/explain.test.ts',
  'test/db/automation-rollout-kills.test.ts',
  'test/db/event-parts-kills.test.ts',
  'test/api/platform/first-project.test.ts',
  'test/start/npm-start.test.ts',
  'test/e2e/webhook-soak.test.ts',
  'test/workflows/automation-run-crowd.test.ts',
  'test/e2e/upgrade.test.ts',
  'test/e2e/rolling-upgrade.test.ts',
  'test/browser/awkward-texts.test.ts',
  'test/e2e/campaign-worker-kills.test.ts',
  'test/e2e/erasure-needles.test.ts',
  'test/e2e/restored.test.ts',
  'test/e2e/webhook-verifiers.test.ts',
  'test/db/restore-drill.test.ts',
];

/** Files that take longest of all others, the longest first. */
export const slowTests = [
  'test/browser/dashboard-access.test.ts',
  'test/browser/email-editor.test.ts',
  'test/browser/settings.test.ts',
  'test/browser/dashboard.test.ts',
  'test/browser/dashboard-designer.test.ts',
  'test/browser/scenario-marketers-week.test.ts',
  'test/browser/journeys.test.ts',
  'test/browser/dashboard-canvas.test.ts',
  'test/workflows/campaign-revise.test.ts',
  'test/browser/accounts.test.ts',
  'test/workflows/campaign-canary-reviewed.test.ts',
  'test/workflows/email-delivery-sandbox.test.ts',
  'test/e2e/campaign.test.ts',
  'test/workflows/email-delivery.test.ts',
  'test/e2e/automation.test.ts',
  'test/api/core/access.test.ts',
  'test/workflows/import-killed.test.ts',
  'test/workflows/email-delivery-smtp.test.ts',
  'test/browser/sandbox-inbox-live.test.ts',
  'test/browser/dashboard-designer-conflict.test.ts',
  'test/browser/campaign-composer.test.ts',
  'test/browser/campaign-review.test.ts',
  'test/browser/recipient-pages.test.ts',
  'test/api/sending/smtp-in.test.ts',
  'test/db/activity-counts.test.ts',
  'test/workflows/automation-migration.test.ts',
  'test/browser/scenario-incident.test.ts',
  'test/browser/docs.test.ts',
  'test/browser/segments.test.ts',
  'test/workflows/domains.test.ts',
  'test/browser/code-editor.test.ts',
  'test/browser/emails.test.ts',
  'test/browser/campaign-canary.test.ts',
  'test/api/core/shutdown.test.ts',
  'test/api/core/hostile-bodies.test.ts',
  'test/workflows/campaign-schedule.test.ts',
  'test/workflows/automation-run.test.ts',
];

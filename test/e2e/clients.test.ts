import { afterAll, beforeAll, describe } from 'vitest';
import { startService, stopService } from '../support/app-project.ts';

// What gets its clients from a service, which is started once for all of it. The scripts of `apps` come first: some look at everything that a new
// project has.
beforeAll(startService, 300_000);
afterAll(stopService);

describe('apps', async () => {
  await import('./apps.ts');
});
describe('examples', async () => {
  await import('./examples.ts');
});
describe('downloads', async () => {
  await import('./downloads.ts');
});

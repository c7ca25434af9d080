import { writeFile } from 'node:fs/promises';
import { openApiDocument } from '../http/openapi.ts';
import { settingsPage } from '../lib/config/config.ts';
import { routes } from './api/routes.ts';

// `settings` writes docs/settings.md. `openapi` prints the document of /openapi.json without a running service, for whoever generates a
// client, the dashboard among them.
const [what] = process.argv.slice(2);
if (what === 'settings') await writeFile(new URL('../../docs/settings.md', import.meta.url), settingsPage());
else if (what === 'openapi') process.stdout.write(JSON.stringify(openApiDocument(routes, 'http://localhost:3000')));
else throw new Error('Say what to write: settings or openapi');

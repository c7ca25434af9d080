import { writeFile } from 'node:fs/promises';
import { settingsPage } from '../core/config/page.ts';

await writeFile(new URL('../../docs/settings.md', import.meta.url), settingsPage());

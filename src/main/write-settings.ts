import { writeFile } from 'node:fs/promises';
import { settingsPage } from '../lib/config/config.ts';

await writeFile(new URL('../../docs/settings.md', import.meta.url), settingsPage());

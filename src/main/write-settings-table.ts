import { readFile, writeFile } from 'node:fs/promises';
import { withSettingsTable } from '../core/config/table.ts';

const readme = new URL('../../README.md', import.meta.url);
await writeFile(readme, withSettingsTable(await readFile(readme, 'utf8')));

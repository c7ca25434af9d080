import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Sources } from './imports.ts';

// Of the dashboard, what computes and touches no page.
const folders = [
  'src',
  'workflows',
  'activities',
  'migrations',
  'temporal',
  'packages',
  'tools',
  'dashboard/src/code',
  'dashboard/src/conditions',
  'dashboard/src/editor/rules',
  'dashboard/src/pages/campaigns/rules',
  'dashboard/src/pages/contacts/import/rules',
  'dashboard/src/pages/mail/starters',
  'dashboard/src/pages/workflows/graph',
  'dashboard/src/storage',
  'dashboard/src/words',
  'test',
  'bench',
];

/** Reads every TypeScript file of the project below its root folder. */
export function readSources(root: string): Sources {
  const paths = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !path.includes('node_modules'))
      .map((path) => `${folder}/${path.replaceAll('\\', '/')}`),
  );
  return new Map(paths.sort().map((path) => [path, readFileSync(join(root, path), 'utf8')]));
}

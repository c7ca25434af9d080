import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectVersion, root } from './npm-package.ts';

// `npm version <version>` runs this: every workspace gets the version that it has set for the project, and needs the others in it. The pages
// and manifests for operators name a release by it.
const { version: earlier } = JSON.parse(readFileSync(join(root, 'dashboard/package.json'), 'utf8')) as {
  version: string;
};
for (const path of ['docs/operations/install.md', 'deploy/kubernetes/kustomization.yaml', 'deploy/helm/Chart.yaml'])
  writeFileSync(join(root, path), readFileSync(join(root, path), 'utf8').replaceAll(earlier, projectVersion));
for (const path of ['package.json', ...globSync('{dashboard,packages/*}/package.json', { cwd: root })]) {
  const text = readFileSync(join(root, path), 'utf8');
  const ours = text
    .replace(/^ {2}"version": ".*"/m, `  "version": "${projectVersion}"`)
    .replaceAll(/("@fernpost\/[\w-]+": )"[^"]*"/g, `$1"${projectVersion}"`);
  if (ours !== text) writeFileSync(join(root, path), ours);
}
const { status } = spawnSync('npm', ['install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund'], {
  cwd: root,
  stdio: 'inherit',
});
process.exit(status ?? 1);

import { namedPackages, packageOf, runtimeImports, type Sources } from './imports.ts';

/** The parts of package.json that are looked at. */
export interface Manifest {
  scripts?: Record<string, string>;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

// Packages that serve without being imported, by what they are good for.
const commandOf: Record<string, string> = { node: 'node', typescript: 'tsc', '@biomejs/biome': 'biome', knip: 'knip' };
const loadedByOthers: Record<string, string> = {
  '@react-email/render': 'packages/cli loads it from beside the templates of a developer',
  react: 'packages/cli loads it from beside the templates of a developer',
  'react-dom': 'packages/cli loads it from beside the templates of a developer',
  helmet: 'koa-helmet runs it and leaves the choice of the version to us',
  protobufjs: 'the Temporal SDK reads history as JSON through the copy that stands beside it',
};

/**
 * What is wrong between a package.json, the imports of the files it is for, and the page that gives each dependency's reason,
 * sorted. Tests and builds may use the `tools` as well: the development dependencies of the whole project.
 */
export function packageProblems(
  manifest: Manifest,
  sources: Sources,
  page: string,
  tools: Readonly<Record<string, string>> = {},
): string[] {
  const { dependencies = {}, devDependencies = {} } = manifest;
  const declared = { ...dependencies, ...devDependencies };
  const problems: string[] = [];
  for (const [name, version] of Object.entries(declared)) {
    if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) problems.push(`${name}: version ${version} is not exact`);
    if (!page.includes(`\`${name}\``)) problems.push(`${name}: not named in docs/dependencies.md`);
  }
  for (const name of Object.keys(dependencies)) {
    if (name in devDependencies) problems.push(`${name}: declared twice`);
  }

  const used = new Set<string>();
  for (const [path, text] of sources) {
    const isTest = /^((packages|tools)\/[^/]+\/)?(test|bench|build)\//.test(path);
    const isKnown = (name: string) => name in declared || (isTest && name in tools);
    const atRunTime = runtimeImports(path, text).map(({ specifier }) => packageOf(specifier));
    for (const name of new Set(atRunTime)) {
      if (name === undefined) continue;
      used.add(name);
      if (!isKnown(name)) problems.push(`${path} → ${name}: not declared in package.json`);
      else if (!isTest && !(name in dependencies)) {
        problems.push(`${path} → ${name}: only a development dependency`);
      }
    }
    for (const name of namedPackages(text)) {
      used.add(name);
      if (!isKnown(name) && !(typesOf(name) in declared))
        problems.push(`${path} → ${name}: not declared in package.json`);
    }
  }

  const scripts = Object.values(manifest.scripts ?? {}).join('\n');
  for (const name of Object.keys(declared)) {
    const command = commandOf[name];
    const runs = command !== undefined && new RegExp(`\\b${command}\\b`).test(scripts);
    const types = name === '@types/node' || Object.keys(declared).some((other) => typesOf(other) === name);
    if (!used.has(name) && !runs && !types && !(name in loadedByOthers)) problems.push(`${name}: nothing imports it`);
  }
  return [...new Set(problems)].sort();
}

function typesOf(name: string): string {
  return `@types/${name.replace(/^@/, '').replace('/', '__')}`;
}

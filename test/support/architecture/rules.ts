import { cycles } from './cycles.ts';
import { packageOf, type RuntimeImport, runtimeImports, type Sources, typeImports } from './imports.ts';
import {
  isHttpKit,
  isRouteTable,
  isSubject,
  keptPackages,
  mayImport,
  onlyPackages,
  type Place,
  packageEntry,
  packageFolder,
  placeOf,
  pureModules,
  speaksHttp,
  standsAbove,
  subjectsMayImport,
} from './rooms.ts';

/** Every import that breaks a rule of the house, as `file → file: the rule`, sorted. */
export function brokenRules(sources: Sources): string[] {
  const imports = [...sources].flatMap(([path, text]) => runtimeImports(path, text));
  const types = [...sources].flatMap(([path, text]) => typeImports(path, text));
  const homeless = [...sources.keys()].filter((path) => placeOf(path) === undefined);
  const problems = [
    ...homeless.map((path) => `${path}: stands in no area`),
    ...imports.flatMap((one) => told(one, problemsOf(one, sources))),
    ...types.flatMap((one) => told(one, one.file === undefined ? [] : boundaryProblems(one.from, one.file))),
    ...impureForWorkflows(imports),
    ...cycles(graphOf(imports)).map((ring) => `${[...ring, ring[0]].join(' → ')}: a cycle of imports`),
  ];
  return [...new Set(problems)].sort();
}

function told(one: RuntimeImport, rules: readonly string[]): string[] {
  return rules.map((rule) => `${one.from} → ${one.file ?? one.specifier}: ${rule}`);
}

function problemsOf(one: RuntimeImport, sources: Sources): string[] {
  const place = placeOf(one.from);
  if (place === undefined) return [];
  if (one.file === undefined) return packageProblems(one);
  // What is not TypeScript is data, and data belongs to whoever reads it.
  if (!one.file.endsWith('.ts')) return [];
  if (!sources.has(one.file)) return ['there is no such file'];
  const target = placeOf(one.file);
  const problems = boundaryProblems(one.from, one.file);
  if (target === undefined || ['packages', 'tools', 'test', 'bench'].includes(place)) return problems;
  if (!mayReach(place, target)) problems.push(`${place} must not import ${target}`);
  if (isSubject(place) && isHttpKit(one.file) && !speaksHttp(one.from))
    problems.push('only route tables and access control use the HTTP kit');
  if (one.file.startsWith('src/lib/config/') && isSubject(place) && !['lib', 'store', 'http', 'main'].includes(place))
    problems.push('settings are handed over; only main reads them');
  return problems;
}

/** What holds for types as well: packages stand alone and are imported by name, subjects keep their order. */
function boundaryProblems(from: string, file: string): string[] {
  const [own, other] = [packageFolder(from), packageFolder(file)];
  if (own === undefined && other === undefined) return subjectProblems(from, file);
  const isTest = (path: string, folder: string | undefined) => path.startsWith(`${folder ?? ''}test/`);
  if (own !== undefined && own !== other) return ['a package imports no file outside of it'];
  if (own !== undefined && isTest(file, own) && !isTest(from, own)) return ['only tests import tests'];
  // Helpers of a package's tests serve the tests of the service too.
  if (own === undefined && !(/^(test|bench)\//.test(from) && isTest(file, other)))
    return ['packages are imported by name'];
  return [];
}

/** What holds for types as well: the order of subjects. */
function subjectProblems(from: string, file: string): string[] {
  const [place, target] = [placeOf(from), placeOf(file)];
  if (place === 'test' || place === 'bench' || place === 'main' || place === target) return [];
  if (!isSubject(target)) return [];
  const problems: string[] = [];
  if (isSubject(place) && standsAbove(target, place)) problems.push(`${target} stands above ${place}`);
  if (isRouteTable(file)) problems.push('only main puts tables of routes together');
  return problems;
}

function mayReach(place: Place, target: Place): boolean {
  if (place === target) return true;
  if (!isSubject(place)) {
    const allowed = mayImport[place] ?? [];
    return (
      allowed.includes(target) ||
      (allowed.includes('subjects') && isSubject(target) && target !== 'http' && target !== 'main')
    );
  }
  return isSubject(target) || (subjectsMayImport[place] ?? ['commands']).includes(target);
}

function packageProblems({ from, specifier }: RuntimeImport): string[] {
  const place = placeOf(from);
  const name = packageOf(specifier);
  const problems: string[] = [];
  for (const { packages, only } of keptPackages) {
    if (name !== undefined && packages.test(name) && !only.test(from))
      problems.push('this package is kept to other places');
  }
  const allowed = place === undefined ? undefined : onlyPackages[place];
  if (allowed && !allowed.includes(specifier))
    problems.push(`${place} may import no package but ${allowed.join(', ')}`);
  if (place === 'lib' && specifier.startsWith('node:') && !pureModules.includes(specifier)) {
    problems.push('src/lib does no I/O');
  }
  return problems;
}

// What a workflow reaches is bundled and replayed: nothing there may depend on the machine or on a package.
function impureForWorkflows(imports: readonly RuntimeImport[]): string[] {
  const reached = new Set(
    imports.filter(({ from }) => ['workflows', 'commands'].includes(placeOf(from) ?? '')).map(({ file }) => file),
  );
  // A Set grows while it is walked, so this follows imports of imports.
  for (const file of reached) {
    for (const one of imports) if (one.from === file && one.file !== undefined) reached.add(one.file);
  }
  return imports
    .filter(({ from, file }) => placeOf(from) === 'lib' && reached.has(from) && file === undefined)
    .map(
      ({ from, specifier }) =>
        `${from} → ${specifier}: workflows import this file, so it may import nothing but src/lib`,
    );
}

function graphOf(imports: readonly RuntimeImport[]): Map<string, string[]> {
  const graph = new Map<string, string[]>();
  for (const { from, specifier, file = packageEntry(specifier) } of imports) {
    if (file !== undefined) graph.set(from, [...(graph.get(from) ?? []), file]);
  }
  return graph;
}

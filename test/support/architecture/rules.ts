import { cycles } from './cycles.ts';
import { packageOf, type RuntimeImport, runtimeImports, type Sources } from './imports.ts';
import {
  isOpenToSubjects,
  isRouteTable,
  keptPackages,
  mayImport,
  onlyPackages,
  pureModules,
  roomOf,
  subjectOf,
} from './rooms.ts';

/** Every import that breaks a rule of the house, as `file → file: the rule`, sorted. */
export function brokenRules(sources: Sources): string[] {
  const imports = [...sources].flatMap(([path, text]) => runtimeImports(path, text));
  const homeless = [...sources.keys()].filter((path) => roomOf(path) === undefined);
  const problems = [
    ...homeless.map((path) => `${path}: stands in no room`),
    ...imports.flatMap((one) =>
      problemsOf(one, sources).map((rule) => `${one.from} → ${one.file ?? one.specifier}: ${rule}`),
    ),
    ...impureForWorkflows(imports),
    ...cycles(graphOf(imports)).map((ring) => `${[...ring, ring[0]].join(' → ')}: a ring of imports`),
  ];
  return [...new Set(problems)].sort();
}

function problemsOf(one: RuntimeImport, sources: Sources): string[] {
  const room = roomOf(one.from);
  if (room === undefined) return [];
  if (one.file === undefined) return packageProblems(one);
  // What is not TypeScript is data, and data belongs to whoever reads it.
  if (!one.file.endsWith('.ts')) return [];
  if (!sources.has(one.file)) return ['there is no such file'];
  const target = roomOf(one.file);
  if (target === undefined) return [];
  const problems: string[] = [];
  if (!mayImport[room].includes(target)) problems.push(`${room} must not import ${target}`);
  if (room === 'test' || room === 'bench') return problems;
  if (isRouteTable(one.file) && !one.from.startsWith('src/core/http/'))
    problems.push('only src/core/http may import a table of routes');
  const [own, other] = [subjectOf(one.from), subjectOf(one.file)];
  if (target === 'subject' && own !== undefined && own !== other && !isOpenToSubjects(one.file)) {
    problems.push('of another subject only service, entity, schema and queries may be imported');
  }
  return problems;
}

function packageProblems({ from, specifier }: RuntimeImport): string[] {
  const room = roomOf(from);
  const name = packageOf(specifier);
  const problems: string[] = [];
  for (const { packages, only } of keptPackages) {
    if (name !== undefined && packages.test(name) && !only.test(from))
      problems.push('this package is kept to other rooms');
  }
  const allowed = room === undefined ? undefined : onlyPackages[room];
  if (allowed && !allowed.includes(specifier)) problems.push(`${room} may import no package but ${allowed.join(', ')}`);
  if (room === 'lib' && specifier.startsWith('node:') && !pureModules.includes(specifier)) {
    problems.push('src/core/lib does no I/O');
  }
  return problems;
}

// What a workflow reaches is bundled and replayed: nothing there may depend on the machine or on a package.
function impureForWorkflows(imports: readonly RuntimeImport[]): string[] {
  const reached = new Set(
    imports.filter(({ from }) => ['workflows', 'commands'].includes(roomOf(from) ?? '')).map(({ file }) => file),
  );
  // A Set grows while it is walked, so this follows imports of imports.
  for (const file of reached) {
    for (const one of imports) if (one.from === file && one.file !== undefined) reached.add(one.file);
  }
  return imports
    .filter(({ from, file }) => roomOf(from) === 'lib' && reached.has(from) && file === undefined)
    .map(
      ({ from, specifier }) =>
        `${from} → ${specifier}: workflows import this file, so it may import nothing but src/core/lib`,
    );
}

function graphOf(imports: readonly RuntimeImport[]): Map<string, string[]> {
  const graph = new Map<string, string[]>();
  for (const { from, file } of imports) {
    if (file !== undefined) graph.set(from, [...(graph.get(from) ?? []), file]);
  }
  return graph;
}

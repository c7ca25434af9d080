import { stripTypeScriptTypes } from 'node:module';
import { posix } from 'node:path';
import { init, parse } from 'es-module-lexer';

await init;

/** Files by their path from the root of the project (`src/lib/ids.ts`), with their text. */
export type Sources = ReadonlyMap<string, string>;

/** One import that is left when types are stripped, and so is there at run time. */
export interface RuntimeImport {
  from: string;
  /** As written in the file. */
  specifier: string;
  /** The imported file of ours; `undefined` for a package. It may be no file at all. */
  file: string | undefined;
  /** Whether it is an `import()`, which is not followed when the file is loaded. */
  isLater?: boolean;
}

/** What a file imports at run time, `export … from` and `import()` included. Type imports leave no trace. */
export function runtimeImports(path: string, text: string): RuntimeImport[] {
  return specifiersIn(path, text).map(({ specifier, isLater }) => ({
    from: path,
    specifier,
    isLater,
    file: specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : undefined,
  }));
}

// Several rules ask for the imports of the same files, and taking the types out of a file is most of the work.
const known = new Map<string, { specifier: string; isLater: boolean }[]>();

function specifiersIn(path: string, text: string): { specifier: string; isLater: boolean }[] {
  let specifiers = known.get(text);
  if (specifiers === undefined) {
    const [found] = parse(stripTypeScriptTypes(text), path);
    // A computed path says nothing, so it is kept as a name that no rule and no file answers to.
    specifiers = found
      .filter(({ d }) => d !== importMeta)
      .map(({ n, d }) => ({ specifier: n ?? computed, isLater: d > -1 }));
    known.set(text, specifiers);
  }
  return specifiers;
}

/** What a file imports for its types alone: `import type`, `export type … from` and `import('…')` in a type. */
export function typeImports(path: string, text: string): RuntimeImport[] {
  const statements = /^(?:import|export) type\s[^'";]*?\bfrom\s*'([^']+)'/gm;
  const inline = /(?<!await )\bimport\('([^']+)'\)\.[A-Z]/g;
  return [...text.matchAll(statements), ...text.matchAll(inline)].map(([, specifier = '']) => ({
    from: path,
    specifier,
    file: specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : undefined,
  }));
}

/** What stands for the path of an `import()` whose path is computed. */
const computed = '<computed>';

const importMeta = -2;

/** The package of a bare specifier: `@koa/router` of `@koa/router/lib/x`; `undefined` for Node's own modules and files. */
export function packageOf(specifier: string): string | undefined {
  if (specifier.startsWith('.') || specifier.startsWith('node:') || specifier === computed) return undefined;
  const [scope = '', name] = specifier.split('/');
  return scope.startsWith('@') && name !== undefined ? `${scope}/${name}` : scope;
}

/** Packages that a file names in any import or export, types included, in a type `import('…')`, or in a resolve call. */
export function namedPackages(text: string): string[] {
  const patterns = [
    /^(?:import|export)\s[^'";]*?\bfrom\s*['"]([^'"]+)['"]/gm,
    /^declare module\s*['"]([^'"]+)['"]/gm,
    /\bimport\(\s*['"]([^'"]+)['"]\s*\)/g,
    /\bresolve\(\s*['"]([^'"]+)['"]\s*\)/g,
  ];
  const specifiers = patterns.flatMap((pattern) => [...text.matchAll(pattern)].map((match) => match[1] ?? ''));
  return specifiers.map(packageOf).filter((name) => name !== undefined && packageName.test(name)) as string[];
}

const packageName = /^(@[a-z0-9][\w.-]*\/)?[a-z0-9][\w.-]*$/;

import type { Sources } from './imports.ts';

/** Exported names of the service that stand for two things, each with the reason why both may keep it. */
export const sharedNames: Readonly<Record<string, string>> = {};

const declaration =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|const|let|class|interface|type|enum) (\w+)/gm;

/**
 * Names that more than one file of the service declares and exports, each with its files, sorted. A name stands for one thing
 * everywhere; who re-exports it declares nothing. What stands in `packages` and in
 * the folders of `npm start` and the drill are programs of their own.
 */
export function namesDeclaredTwice(sources: Sources): string[] {
  const files = new Map<string, Set<string>>();
  for (const [path, text] of sources) {
    if (!/^(src|workflows|activities|temporal)\//.test(path) || /^src\/main\/(local|drill)\//.test(path)) continue;
    for (const [, name = ''] of text.matchAll(declaration)) files.set(name, (files.get(name) ?? new Set()).add(path));
  }
  return [...files]
    .filter(([, paths]) => paths.size > 1)
    .map(([name, paths]) => `${name}: ${[...paths].sort().join(', ')}`)
    .sort();
}

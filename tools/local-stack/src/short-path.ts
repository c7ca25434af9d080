import { relative, sep } from 'node:path';

/** A path as a person would type it: relative where it lies below the current folder. */
export function shortPath(path: string): string {
  const short = relative(process.cwd(), path);
  return short === '' || short.startsWith(`..${sep}`) || short === '..' ? path : short;
}

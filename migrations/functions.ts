import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { databaseNames } from '@fernpost/earlier-name';

/** A function of the database with its triggers. */
export interface DatabaseFunction {
  name: string;
  /** Statements that can be run again, each of them "create or replace". */
  statements: string[];
  /** SHA-256 of the text. */
  hash: string;
}

const folder = new URL('./functions/', import.meta.url);
// What the release with the earlier name did by triggers behind its writes, as it needs it again.
const earlierFolder = new URL('./earlier-functions/', import.meta.url);
let read: DatabaseFunction[] | undefined;

/**
 * The files of `migrations/functions`, by name. A change of a function is an edit of its file, which `npm run migrate` installs; a
 * change of its parameters or its removal takes a migration that drops the old one. Functions may call one another in any order, but
 * what the condition of a trigger calls must come first in the alphabet.
 */
export function databaseFunctions(): readonly DatabaseFunction[] {
  read ??= functionsOf(folder, (text) => text);
  return read;
}

/**
 * The functions as the release with the earlier name needs them, for going back to it: with the names of settings and channels that it
 * uses, and its own where a function of this release does what a trigger did then.
 */
export function earlierFunctions(): readonly DatabaseFunction[] {
  const { setting, channel } = databaseNames;
  const renamed = (text: string) =>
    text.replaceAll("'fernpost.", `'${setting}`).replaceAll("'fernpost_", `'${channel}`);
  const earlier = functionsOf(earlierFolder, renamed);
  const names = new Set(earlier.map(({ name }) => name));
  return [...functionsOf(folder, renamed).filter(({ name }) => !names.has(name)), ...earlier];
}

/** Names of the functions that only the release with the earlier name has. */
export function earlierOnly(): string[] {
  const current = new Set(databaseFunctions().map(({ name }) => name));
  return functionsOf(earlierFolder, (text) => text).flatMap(({ name }) => (current.has(name) ? [] : [name]));
}

function functionsOf(files: URL, written: (text: string) => string): DatabaseFunction[] {
  return readdirSync(files)
    .filter((file) => file.endsWith('.sql'))
    .toSorted()
    .map((file) => {
      const text = written(readFileSync(new URL(file, files), 'utf8'));
      return {
        name: file.slice(0, -'.sql'.length),
        statements: text.trim().split(/\n\n(?=create or replace )/),
        hash: createHash('sha256').update(text).digest('hex'),
      };
    });
}

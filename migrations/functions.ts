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
// Triggers behind whose writes the release with the earlier name did things, as it needs them again.
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

/** The same functions with the names of settings and channels that the release with the earlier name uses, for going back to it. */
export function earlierFunctions(): readonly DatabaseFunction[] {
  const { setting, channel } = databaseNames;
  return [folder, earlierFolder].flatMap((files) =>
    functionsOf(files, (text) => text.replaceAll("'fernpost.", `'${setting}`).replaceAll("'fernpost_", `'${channel}`)),
  );
}

/** Names of the functions that only the release with the earlier name has. */
export function earlierOnly(): string[] {
  return functionsOf(earlierFolder, (text) => text).map(({ name }) => name);
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

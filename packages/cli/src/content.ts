import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { UsageError } from './errors.ts';

/** The content that an option names: itself, the file after an "@", or standard input for "-". */
export function contentOf(value: string): Promise<string> | string {
  if (value === '-') return text(process.stdin);
  if (!value.startsWith('@')) return value;
  try {
    return readFileSync(value.slice(1), 'utf8');
  } catch {
    throw new UsageError(`${value.slice(1)} cannot be read.`);
  }
}

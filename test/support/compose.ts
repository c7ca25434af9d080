import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** What the tests look at of a service in docker-compose.yml. */
export interface ComposeService {
  image?: string;
  command?: string[];
  environment?: Record<string, string | number>;
  env_file?: { path: string; required: boolean }[];
  depends_on?: Record<string, { condition: string }>;
  ports?: string[];
  volumes?: string[];
  profiles?: string[];
}

/** docker-compose.yml, with what it merges. */
export interface ComposeFile {
  services: Record<string, ComposeService>;
  volumes: Record<string, unknown>;
}

/** The project's file. */
const composeFile = join(import.meta.dirname, '../../docker-compose.yml');

/** Reads it as Compose does, before anything is put in place of `${…}`. */
export function readCompose(): ComposeFile {
  return parse(readFileSync(composeFile, 'utf8'), { merge: true }) as ComposeFile;
}

/** Puts the values of `.env` into text: `${NAME}`, `${NAME:-default}` with further variables in the default, and `$$`. */
function interpolate(text: string, env: Readonly<Record<string, string>>): string {
  let [result, rest] = ['', text];
  for (;;) {
    const at = rest.search(/\$[${]/);
    if (at === -1) return result + rest;
    result += rest.slice(0, at);
    if (rest[at + 1] === '$') {
      result += '$';
      rest = rest.slice(at + 2);
      continue;
    }
    const end = closing(rest, at + 2);
    const [, name = '', fallback = ''] = /^(\w+)(?::-(.*))?$/s.exec(rest.slice(at + 2, end)) ?? [];
    if (name === '') throw new Error(`not understood: ${rest.slice(at, end + 1)}`);
    result += env[name] || interpolate(fallback, env);
    rest = rest.slice(end + 1);
  }
}

function closing(text: string, from: number): number {
  for (let [at, depth] = [from, 1]; at < text.length; at++) {
    if (text.startsWith('${', at)) depth++;
    if (text[at] === '}' && --depth === 0) return at;
  }
  throw new Error(`no end of a variable in ${text}`);
}

/** The environment of a container, given the lines of `.env`: `environment` wins over `env_file`. */
export function containerEnv(
  service: ComposeService,
  dotEnv: Readonly<Record<string, string>>,
): Record<string, string> {
  const own = Object.entries(service.environment ?? {}).map(([name, value]) => [
    name,
    interpolate(String(value), dotEnv),
  ]);
  const passed = service.env_file?.some(({ path }) => path === '.env') ? dotEnv : {};
  return { ...passed, ...Object.fromEntries(own) };
}

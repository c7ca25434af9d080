import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';

/** Where the parts of this run are to be reached. */
const Places = v.object({
  baseUrl: v.string(),
  sandboxUrl: v.nullable(v.string()),
  temporalAddress: v.string(),
  temporalUiUrl: v.nullable(v.string()),
});
export type Places = v.InferOutput<typeof Places>;

const FirstProject = v.object({
  baseUrl: v.string(),
  projectId: v.string(),
  publicKey: v.string(),
  secretKey: v.string(),
  sender: v.string(),
  login: v.object({ email: v.string(), password: v.nullable(v.string()) }),
  sandboxUrl: v.optional(v.nullable(v.string())),
  temporalAddress: v.string(),
  temporalUiUrl: v.optional(v.nullable(v.string())),
});

/** The project that the first run made: how to use it and where everything is. */
export type FirstProject = v.InferOutput<typeof FirstProject>;

/** What the process that makes the first project sends: the project, or what is needed to make one. */
export const FirstProjectSent = v.fallback(v.object({ project: v.unknown(), needed: v.array(v.string()) }), {
  project: null,
  needed: [],
});

const fileOf = (dataDir: string) => join(dataDir, 'first-project.json');

/**
 * Keeps DATA_DIR/first-project.json: written for its owner alone when the project was made, and brought up to date when a later run
 * listens elsewhere. Answers what the file says, or null when the project was made without this file.
 */
export function keepFirstProject(dataDir: string, made: unknown, places: Places): FirstProject | null {
  const project = made === null || made === undefined ? readFirstProject(dataDir) : v.parse(FirstProject, made);
  if (project === null) return null;
  const current = { ...project, ...places };
  const path = fileOf(dataDir);
  writeFileSync(`${path}.new`, `${JSON.stringify(current, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
  return current;
}

function readFirstProject(dataDir: string): FirstProject | null {
  const path = fileOf(dataDir);
  if (!existsSync(path)) return null;
  try {
    return v.parse(FirstProject, JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return null;
  }
}

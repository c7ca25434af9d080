import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { postgresName as earlierPostgresName } from '@fernpost/earlier-name';
import { postgresName, reasonOf, StartError } from '@fernpost/local-stack';
import * as v from 'valibot';

const Generated = v.object({
  /** Password of the Postgres that we run ourselves. */
  postgresPassword: v.pipe(v.string(), v.minLength(16)),
  /** Its role and its database. Files from before they had a choice name none. */
  postgresName: v.optional(v.pipe(v.string(), v.regex(/^[a-z]+$/)), earlierPostgresName),
  /** Value of JWT_SECRET for as long as that is not set. */
  jwtSecret: v.pipe(v.string(), v.minLength(32)),
});

/** What nobody needs to choose, made once and kept in DATA_DIR/secrets.json for its owner alone. */
export type GeneratedSecrets = v.InferOutput<typeof Generated>;

/**
 * Reads the kept secrets, or makes them on the first run.
 * @throws StartError when the file is there and unusable; it is never replaced, for the data depends on it
 */
export function keptSecrets(dataDir: string): GeneratedSecrets {
  const path = join(dataDir, 'secrets.json');
  if (existsSync(path)) {
    try {
      return v.parse(Generated, JSON.parse(readFileSync(path, 'utf8')));
    } catch (error) {
      throw new StartError(
        `${path} cannot be read (${reasonOf(error)}). Restore it, or remove ${dataDir} to begin anew without its data.`,
      );
    }
  }
  const made: GeneratedSecrets = {
    postgresPassword: randomBytes(18).toString('base64url'),
    postgresName,
    jwtSecret: randomBytes(32).toString('base64url'),
  };
  writeFileSync(`${path}.new`, `${JSON.stringify(made, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
  return made;
}

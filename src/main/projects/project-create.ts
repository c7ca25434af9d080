import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readConfigOrExit } from '../../core/config/config.ts';
import { unsafeSettings } from '../../core/config/safety.ts';
import { keptSecrets } from '../start/secrets.ts';
import { createOperatorProject, firstProjectWishes, ProjectRefused } from './first-project.ts';

/**
 * `npm run project -- create --owner <address> --sender <address> [--name <name>]`: prints the project with its keys, which
 * are shown this once, and the DNS records of the sender's domain. Answers the status of the process.
 */
export async function createByHand(args: readonly string[]): Promise<number> {
  const text = { type: 'string' } as const;
  let given: { owner?: string; sender?: string; name?: string };
  try {
    given = parseArgs({ args: [...args], options: { owner: text, sender: text, name: text } }).values;
  } catch (error) {
    console.error(`fernpost: ${(error as Error).message}`);
    return 2;
  }
  useKeptSecret();
  const config = readConfigOrExit(['DATABASE_URL']);
  for (const warning of unsafeSettings(config)) console.error(`fernpost: warning: ${warning}`);
  const wishes = firstProjectWishes(config);
  try {
    const project = await createOperatorProject(config, {
      owner: given.owner ?? wishes.owner,
      sender: given.sender ?? wishes.sender,
      name: given.name ?? wishes.name,
    });
    console.log(JSON.stringify(project, null, 2));
    if (project.problem !== null)
      console.error(`fernpost: the project was made, but not its domain: ${project.problem}. Add it in the dashboard`);
    return 0;
  } catch (error) {
    if (!(error instanceof ProjectRefused)) throw error;
    for (const problem of error.problems) console.error(`fernpost: ${problem}`);
    return 1;
  }
}

/** Beside `npm start` the secret of the service is the one that it has made. */
export function useKeptSecret(): void {
  const dataDir = process.env.DATA_DIR?.trim() || '.data';
  if ((process.env.JWT_SECRET?.trim() ?? '') !== '' || !existsSync(join(dataDir, 'secrets.json'))) return;
  process.env.JWT_SECRET = keptSecrets(dataDir).jwtSecret;
}

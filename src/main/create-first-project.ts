import { readConfigOrExit } from '../core/config/config.ts';
import { unsafeSettings } from '../core/config/safety.ts';
import { createFirstProject, type FirstProjectFacts, ProjectRefused } from './first-project.ts';

// Run by `npm start`, which gets the project by its channel, and by hand where that is not used: `node src/main/create-first-project.ts`
// prints it. A process of its own, so that the supervisor does not carry the database layer for as long as it lives.
const config = readConfigOrExit(['DATABASE_URL']);

async function made(): Promise<{ project: FirstProjectFacts | null; needed: string[] }> {
  try {
    return { project: await createFirstProject(config), needed: [] };
  } catch (error) {
    if (!(error instanceof ProjectRefused)) throw error;
    return { project: null, needed: error.problems };
  }
}

const { project, needed } = await made();
if (process.send) process.send({ project, needed });
else {
  for (const warning of unsafeSettings(config)) console.error(`posthorn: warning: ${warning}`);
  for (const problem of needed) console.error(`posthorn: no project was made: ${problem}`);
  if (needed.length > 0) process.exitCode = 1;
  else if (project) console.log(JSON.stringify(project, null, 2));
  else console.log('There is a project already; nothing was made.');
}

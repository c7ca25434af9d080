import { readConfigOrExit } from '../lib/config/config.ts';
import { unsafeSettings } from '../lib/config/secrets.ts';
import { firstProjectOrNeeds } from './projects/first-project.ts';

// `node src/main/create-first-project.ts`: makes the first project of a deployment and prints it.
const config = readConfigOrExit(['DATABASE_URL']);
const { project, needed } = await firstProjectOrNeeds(config);
for (const warning of unsafeSettings(config)) console.error(`fernpost: warning: ${warning}`);
for (const problem of needed) console.error(`fernpost: no project was made: ${problem}`);
if (needed.length > 0) process.exitCode = 1;
else if (project) console.log(JSON.stringify(project, null, 2));
else console.log('There is a project already; nothing was made.');

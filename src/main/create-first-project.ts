import { readConfigOrExit } from '../config.ts';
import { createFirstProject } from './first-project.ts';

// Run by `npm start`, which gets the project by its channel, and by hand where that is not used: `node src/main/create-first-project.ts`
// prints it. A process of its own, so that the supervisor does not carry the database layer for as long as it lives.
const project = await createFirstProject(readConfigOrExit(['DATABASE_URL']));
if (process.send) process.send({ project });
else if (project) console.log(JSON.stringify(project, null, 2));
else console.log('There is a project already; nothing was made.');

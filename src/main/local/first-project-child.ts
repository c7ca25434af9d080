// Run by `npm start` with a channel to it: makes the first project and hands back what it is. A process of its own, so that the supervisor
// does not carry the database layer for as long as it lives.
import { readConfigOrExit } from '../../config.ts';
import { createFirstProject } from '../first-project.ts';

const config = readConfigOrExit(['DATABASE_URL']);
const project = await createFirstProject(config);
process.send?.({ project });

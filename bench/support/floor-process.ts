import { startFloor } from './floor-server.ts';

// A process of its own like the API's, so that both are measured alike.
const [databaseUrl = '', projectId = ''] = process.argv.slice(2);
const floor = await startFloor(databaseUrl, projectId);
process.send?.({ url: floor.url });
process.on('disconnect', () => process.exit(0));

import { readConfig } from '../../src/core/config/config.ts';
import { startApi } from '../../src/main/api/api-runtime.ts';
import { createLogger } from '../../src/main/setup/logger.ts';

// The API as `npm run api` runs it, on a free port; its log goes to a file as it would in a deployment.
const config = readConfig(process.env, ['DATABASE_URL', 'TEMPORAL_ADDRESS']);
const api = await startApi({ ...config, PORT: 0 }, createLogger(config, 'api'));
process.send?.({ url: api.url });
process.on('disconnect', () => process.exit(0));

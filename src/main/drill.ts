import { fileURLToPath } from 'node:url';
import { drill } from '@fernpost/drill';
import { settings } from '../lib/config/settings.ts';
import { keptSecrets } from './start/settings.ts';

const service = {
  root: fileURLToPath(new URL('../..', import.meta.url)),
  program: 'src/main/start.ts',
  settings: Object.keys(settings),
  postgresPassword: (dataDir: string) => keptSecrets(dataDir).postgresPassword,
};
process.exitCode = await drill(service, process.argv.slice(2));

import { fileURLToPath } from 'node:url';
import { drill } from '@fernpost/drill';
import { settings } from '../core/config/settings.ts';
import { keptSecrets } from './start/secrets.ts';

const service = {
  root: fileURLToPath(new URL('../..', import.meta.url)),
  program: 'src/main/start.ts',
  settings: Object.keys(settings),
  postgresPassword: (dataDir: string) => keptSecrets(dataDir).postgresPassword,
};
process.exitCode = await drill(service, process.argv.slice(2));

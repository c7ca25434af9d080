import { readConfig } from '../../src/lib/config/config.ts';
import { createLogger } from '../../src/main/setup/process.ts';
import { traceAsSet } from './traces.ts';
import { type Turns, watchTurns } from './turns.ts';

// The API as `npm run api` runs it, or with the argument `smtp` SMTP submission, on a free port; its log goes to a file as it would in a
// deployment. With `sns`, an address and a certificate, it has that certificate from that address, where Amazon's would be.
// Any message asks for the turns of its event loop.
const config = readConfig(process.env, ['DATABASE_URL', 'TEMPORAL_ADDRESS']);
await traceAsSet(config);
if (process.argv[2] === 'smtp') {
  const { startSmtp } = await import('../../src/main/smtp/smtp-runtime.ts');
  const smtp = await startSmtp({ ...config, SMTP_IN_PORT: 0 }, createLogger(config, 'smtp'));
  process.send?.({ url: `smtp://127.0.0.1:${smtp.ports.plain}` });
} else {
  const { startApi } = await import('../../src/main/api/api-runtime.ts');
  const [kind, address, certificate = ''] = process.argv.slice(2);
  const getFromAmazon = async ({ href }: URL) => {
    if (href !== address) throw new Error(`nothing is known at ${href}`);
    return certificate;
  };
  const overrides = kind === 'sns' ? { getFromAmazon } : {};
  const api = await startApi({ ...config, PORT: 0 }, createLogger(config, 'api'), overrides);
  process.send?.({ url: api.url });
}
let turns: (() => Turns) | null = null;
process.on('message', () => {
  turns ??= watchTurns();
  process.send?.(turns());
});
process.on('disconnect', () => process.exit(0));

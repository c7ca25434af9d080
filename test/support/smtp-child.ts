import { pino } from 'pino';
import { readConfig } from '../../src/lib/config/config.ts';
import { startSmtp } from '../../src/main/smtp/smtp-runtime.ts';

// A process for SMTP submission that ends itself by SIGKILL as soon as a message is committed and before its client hears of it. Settings
// come as JSON in the first argument; the second says whether it dies. It says `port …` when it listens.
const config = readConfig(JSON.parse(process.argv[2] ?? '{}') as Record<string, string>);
const wake = process.argv[3] === 'mortal' ? () => process.kill(process.pid, 'SIGKILL') : () => undefined;
const smtp = await startSmtp({ ...config, SMTP_IN_PORT: 0 }, pino({ level: 'silent' }), { wake });
console.log(`port ${smtp.ports.plain}`);

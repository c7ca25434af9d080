import { freePorts } from '@fernpost/local-stack';
import { pino } from 'pino';
import { installTemporalRuntime } from '../../src/main/worker/temporal-workers.ts';

// A process has one runtime of the SDK, and the first file that asks decides whether it gathers figures. Files that share a process
// must not depend on who came first.
const [port = 0] = await freePorts(1);
installTemporalRuntime(pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' }), port);

// `pg` warns once in a process of a connection that is asked twice at once, and refuses it from its next version on.
function refuseOverlap(warning: Error): void {
  if (warning.message.includes('already executing a query')) throw warning;
}
if (!process.listeners('warning').some(({ name }) => name === refuseOverlap.name)) process.on('warning', refuseOverlap);

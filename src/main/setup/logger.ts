import { type Logger, pino } from 'pino';
import type { Config } from '../../core/config/config.ts';

/** The log of a process: JSON lines on standard output, without secrets wherever they might slip in. */
export function createLogger(config: Pick<Config, 'LOG_LEVEL'>, process: string): Logger {
  return pino({
    level: config.LOG_LEVEL,
    base: { process },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: [
      'authorization',
      'password',
      'secretKey',
      'publicKey',
      'token',
      '*.authorization',
      '*.password',
      '*.token',
      'err.config',
      'err.request',
      'err.response',
    ],
  });
}

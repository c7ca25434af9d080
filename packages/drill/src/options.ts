import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { StartError } from '@fernpost/local-stack';

/** The command line of a drill. */
export interface DrillOptions {
  /** Recipients of the campaign. */
  recipients: number;
  /** Decides what happens when; the same seed makes the same plan. */
  seed: number;
  /** How often each process is killed, and each fault of the provider comes. */
  rounds: number;
  /** Minutes after which the drill gives up and prints how things stand. */
  minutes: number;
  /** Keeps the data folder, with its logs, also when all went well. */
  keep: boolean;
  /** Sends to a canary first, whose mail bounces; then the campaign is resumed or cancelled. Null: no canary. */
  canary: 'resume' | 'cancel' | null;
}

const usage = [
  'npm run drill -- [--recipients 20000] [--seed 1] [--rounds 3] [--minutes 15] [--keep] [--canary [--cancel]]',
  '  --recipients  size of the campaign, 100 to 100,000',
  '  --seed        repeats the plan of an earlier drill; random when absent',
  '  --rounds      how often each process is killed and each fault of the provider comes, 1 to 10',
  '  --minutes     when to give up, 1 to 120',
  '  --keep        keep the data and logs of a drill that succeeded',
  '  --canary      send to a canary first, whose mail bounces, until it stops the campaign; then resume',
  '  --cancel      with --canary: cancel the stopped campaign in place of resuming it',
];

/** Reads the command line. @throws StartError with the usage when it makes no sense */
export function readOptions(args: readonly string[]): DrillOptions {
  const values = parsed(args);
  if (values.cancel && !values.canary) throw new StartError('--cancel needs --canary.', ...usage);
  return {
    recipients: whole(values.recipients ?? '20000', 'recipients', 100, 100_000),
    seed: values.seed === undefined ? randomInt(1, 1_000_000) : whole(values.seed, 'seed', 0, 2 ** 31),
    rounds: whole(values.rounds ?? '3', 'rounds', 1, 10),
    minutes: whole(values.minutes ?? '15', 'minutes', 1, 120),
    keep: values.keep ?? false,
    canary: values.canary ? (values.cancel ? 'cancel' : 'resume') : null,
  };
}

function parsed(args: readonly string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  try {
    return parseArgs({
      args: [...args],
      options: { recipients: text, seed: text, rounds: text, minutes: text, keep: flag, canary: flag, cancel: flag },
    }).values;
  } catch (error) {
    throw new StartError((error as Error).message, ...usage);
  }
}

function whole(value: string, name: string, min: number, max: number): number {
  const number = Number(value);
  if (!Number.isInteger(number) || number < min || number > max)
    throw new StartError(`--${name} must be a whole number from ${min} to ${max}, not "${value}".`, ...usage);
  return number;
}

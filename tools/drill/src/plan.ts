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

/** The processes that a drill of a campaign kills. The provider's sandbox is none of ours and lives on. */
export const victims = ['worker', 'api', 'postgres', 'temporal'] as const;
/** One of them, as `npm start` calls it. */
export type Victim = (typeof victims)[number];
/** A process that can be killed: under a canary the provider's sandbox as well. */
export type Target = Victim | 'sandbox';

/** A disturbance of the provider, as the sandbox takes it (`POST /api/faults`) and lists what is not used up. */
interface ProviderFault {
  kind: 'status' | 'hang' | 'drop-answer';
  times: number;
  path: string;
  status?: number;
  retryAfter?: number;
  ms?: number;
}

/** Something that goes wrong once a share of the campaign has reached the provider. */
export type Disturbance = { at: number } & ({ kill: Victim } | { fault: ProviderFault });

/** Numbers in [0, 1) that a seed decides (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const sending = '/email/batch';

// Faults wait in the sandbox until calls come.
const faults: ((random: () => number) => ProviderFault)[] = [
  (random) => ({ kind: 'status', status: 500, times: upTo(4, random), path: sending }),
  (random) => ({ kind: 'status', status: 429, retryAfter: 1, times: upTo(2, random), path: sending }),
  (random) => ({ kind: 'hang', ms: 1_000 * upTo(5, random), times: upTo(2, random), path: sending }),
  (random) => ({ kind: 'drop-answer', times: upTo(3, random), path: sending }),
  () => ({ kind: 'status', status: 500, times: 1, path: '/messages/outbound' }),
];

/** Describes a fault of the provider. */
export function labelOf({ kind, status, path }: ProviderFault): string {
  if (path !== sending) return 'cannot be asked what it took';
  if (kind === 'status') return `answers ${status}`;
  return kind === 'hang' ? 'answers nothing' : 'accepts and drops the answer';
}

/**
 * Plans the kills and faults: every process is killed and every fault comes as often as asked for, in random order, spread over
 * the campaign. Temporal dies for the first time at the very beginning, between the request and the start of the work.
 */
export function planDrill({ seed, rounds }: Pick<DrillOptions, 'seed' | 'rounds'>): Disturbance[] {
  const random = seeded(seed);
  const what: (Omit<Disturbance, 'at'> & ({ kill: Victim } | { fault: ProviderFault }))[] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const kill of victims) if (round > 0 || kill !== 'temporal') what.push({ kill });
    for (const fault of faults) what.push({ fault: fault(random) });
  }
  shuffle(what, random);
  const places = what.map(() => 0.02 + 0.88 * random()).sort((a, b) => a - b);
  return [
    { at: 0, kill: 'temporal' },
    ...what.map((one, place) => ({ ...one, at: places[place] ?? 0 }) as Disturbance),
  ];
}

/** Puts the items into a random order, in place. */
export function shuffle<Item>(items: Item[], random: () => number): void {
  for (let place = items.length - 1; place > 0; place -= 1) {
    const other = Math.floor(random() * (place + 1));
    [items[place], items[other]] = [items[other] as Item, items[place] as Item];
  }
}

function upTo(most: number, random: () => number): number {
  return 1 + Math.floor(random() * most);
}

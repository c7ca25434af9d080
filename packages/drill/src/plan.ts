import type { DrillOptions } from './options.ts';

/** The processes that a drill of a campaign kills. The provider's sandbox is none of ours and lives on. */
export const victims = ['worker', 'api', 'postgres', 'temporal'] as const;
/** One of them, as `npm start` calls it. */
export type Victim = (typeof victims)[number];
/** What can be killed: under a canary the provider's sandbox as well. */
export type Target = Victim | 'sandbox';

/** A disturbance of the provider, as the sandbox takes it (`POST /api/faults`) and lists what is not used up. */
export interface ProviderFault {
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

/** What the provider does, in words. */
export function labelOf({ kind, status, path }: ProviderFault): string {
  if (path !== sending) return 'cannot be asked what it took';
  if (kind === 'status') return `answers ${status}`;
  return kind === 'hang' ? 'answers nothing' : 'accepts and drops the answer';
}

/**
 * What goes wrong when: every process is killed and every fault comes as often as asked for, in random order, spread over
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

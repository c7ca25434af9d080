import { type DrillOptions, seeded, shuffle, type Target, victims } from '../plan.ts';

/** When processes are killed: while the canary is sent, while it is held, and in the middle of the wave of bounces. */
export const moments = ['sending', 'holding', 'bouncing'] as const;
export type Moment = (typeof moments)[number];

const all: readonly Target[] = [...victims, 'sandbox'];

/** Who is killed at which moment, in order: every process at as many moments as there are rounds, three at most. */
export function planCanary({ seed, rounds }: Pick<DrillOptions, 'seed' | 'rounds'>): Record<Moment, Target[]> {
  const random = seeded(seed);
  const plan: Record<Moment, Target[]> = { sending: [], holding: [], bouncing: [] };
  for (const victim of all) {
    const order = [...moments];
    shuffle(order, random);
    for (const moment of order.slice(0, rounds)) plan[moment].push(victim);
  }
  for (const moment of moments) shuffle(plan[moment], random);
  return plan;
}

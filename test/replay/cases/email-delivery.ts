import { newId } from '../../../src/lib/ids.ts';
import type { DeliveryReport } from '../../../src/mail/queue/deliver.ts';
import { workflowId } from '../../../temporal/commands.ts';
import { cancelling, failed, type Hand, type ReplayCase, waking } from './case.ts';

const delivered = (count: number): DeliveryReport => ({ delivered: count, failed: 0, waitMs: null, held: null });
const more = (count: number): DeliveryReport => ({ ...delivered(count), waitMs: 0 });
const putOff = (waitMs: number): DeliveryReport => ({ ...delivered(1), waitMs });
const held = (waitMs: number): DeliveryReport => ({
  delivered: 0,
  failed: 0,
  waitMs,
  held: 'held: provider answers 503 since 08:12 UTC, 4 waiting, next try 08:13 UTC',
});

/** Answers after so many wakes that the history is long. */
const wakingOften = (report: DeliveryReport) => async (hand: Hand) => {
  for (let wakes = 0; wakes < 200; wakes += 1) await hand.wake();
  return report;
};

/** Ways through `emailDelivery`. */
export const emailDeliveryCases: readonly ReplayCase[] = [
  delivery('delivered', { answers: [{ ...delivered(3), failed: 1 }] }),
  delivery('more-at-once', { answers: [more(500), more(500), delivered(20)] }),
  delivery('woken-while-idle', { answers: [delivered(2), delivered(1)], atTimer: (hand) => hand.wake() }),
  delivery('woken-while-delivering', { answers: [waking(delivered(2)), delivered(1)] }),
  delivery('put-off', { answers: [putOff(300), delivered(1)] }),
  delivery('woken-while-put-off', { answers: [putOff(60_000), delivered(2)], atTimer: (hand) => hand.wake() }),
  delivery('held', { answers: [held(300), held(200), delivered(4)] }),
  delivery('woken-while-held', { answers: [held(700), delivered(4)], atTimer: (hand) => hand.wake() }),
  delivery('held-still', { answers: [held(60_000)], ends: 'RUNNING' }),
  delivery('attempts-failed', { answers: [failed, failed, delivered(2)] }),
  delivery('cancelled-while-delivering', { answers: [cancelling(delivered(2))], ends: 'CANCELLED' }),
  delivery('cancelled-while-idle', {
    answers: [delivered(2)],
    atTimer: (hand) => hand.cancel(),
    ends: 'CANCELLED',
  }),
  // Recorded on a server that suggests no new run: the workflow itself asks for it (`isHistoryLong`).
  delivery('grown', { answers: [wakingOften(more(1)), delivered(1)], runs: 2 }),
  // It is held when it continues, so that the next run has to know that it was.
  delivery('continued', { answers: [...Array.from({ length: 15 }, () => held(1)), delivered(9)], runs: 2 }),
];

function delivery(
  name: string,
  { answers, ends = 'COMPLETED', ...rest }: Deliveries & Pick<Partial<ReplayCase>, 'ends' | 'atTimer' | 'runs'>,
): ReplayCase {
  const projectId = newId();
  return {
    name: `emailDelivery-${name}`,
    launch: {
      workflow: 'emailDelivery',
      id: workflowId.delivery(projectId),
      input: { projectId },
      searchAttributes: { ProjectId: projectId, Kind: 'delivery' },
      staticSummary: 'Delivers the mail of one project that is no campaign',
    },
    byWake: true,
    answers: { deliverPending: answers },
    ends,
    ...rest,
  };
}

interface Deliveries {
  answers: NonNullable<ReplayCase['answers']['deliverPending']>;
}

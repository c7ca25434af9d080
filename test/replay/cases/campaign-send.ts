import type { SendEnd, SendLaneReport, SendStart } from '../../../activities/campaign.ts';
import type { CanaryStep } from '../../../src/launches/canary/advance.ts';
import { newId } from '../../../src/lib/ids.ts';
import { workflowId } from '../../../temporal/commands.ts';
import { cancelling, failed, heardOfCancel, later, type ReplayCase, type Script, waking } from './case.ts';

const projectId = newId();
const view = {
  projectId,
  status: 'SENDING',
  expanded: false,
  recipients: 24,
  sent: 0,
  skipped: 0,
  failed: 0,
  paused: false,
  dueAt: null,
  dueMs: null,
} as const;
const begun: SendStart = { ...view, lanes: 1 };
const begunWith = (lanes: number): SendStart => ({ ...view, recipients: 9000, lanes });
const cancelledRow: SendStart = { ...view, status: 'CANCELLED', sent: 4, failed: 20, lanes: 1 };

const lane = (end: SendLaneReport['end']): SendLaneReport => ({
  end,
  sent: 8,
  skipped: 0,
  failed: 0,
  waitMs: null,
  held: null,
});
const share: SendLaneReport = { ...lane('share'), waitMs: 0 };
const stopped = lane('stopped');
const held = (waitMs: number): SendLaneReport => ({
  ...lane('held'),
  waitMs,
  held: 'held: provider answers 503 since 08:12 UTC, 16 waiting, next try 08:13 UTC',
});

const sent: SendEnd = {
  done: true,
  waitMs: 0,
  view: { ...view, status: 'SENT', expanded: true, sent: 23, failed: 1 },
};
const unfinished: SendEnd = { done: false, waitMs: 0, view: { ...view, expanded: true, sent: 8 } };
const inDoubt = (waitMs: number): SendEnd => ({ ...unfinished, waitMs });
const quiet = (waitMs: number): SendEnd => ({
  ...inDoubt(waitMs),
  quiet: 'On hold until 2026-03-01T08:00:00.000Z for 16 contacts (quiet hours)',
});
const endCancelled: SendEnd = { done: true, waitMs: 0, view: { ...view, status: 'CANCELLED', expanded: true } };

const due = (dueMs: number): SendStart => ({
  ...begun,
  status: 'SCHEDULED',
  dueAt: '2026-03-01T09:00:00.000Z',
  dueMs,
});
const moved = (dueMs: number): SendStart => ({ ...due(dueMs), dueAt: '2026-03-02T09:00:00.000Z' });
const pausedRow: SendStart = { ...begun, expanded: true, sent: 8, paused: true };
const pausedEnd: SendEnd = { ...unfinished, view: { ...view, expanded: true, sent: 8, paused: true } };

const canaryBegun: SendStart = { ...begun, canary: true, lanes: 1 };
const canaryStep = (next: CanaryStep['next'], waitMs = 0, sent = 0) => ({
  next,
  waitMs,
  detail: next === 'hold' ? 'Canary: 6 of 8 delivered, continues at 2026-03-01T09:00:00.000Z' : '',
  view: { ...view, expanded: true, sent, canary: next !== 'over', paused: next === 'paused' },
});

// What is recorded once for each order in which workflow code has told the row and the lanes.
const cancelledWhileSending: Script = {
  beginSend: [begunWith(2), cancelledRow],
  expandAudience: [9000],
  sendLane: [cancelling(stopped), heardOfCancel(stopped)],
  cancelByOperator: [undefined],
  cleanUpCancelled: [{ done: true, status: 'CANCELLED' }],
};

/** Ways through `campaignSend`. */
export const campaignSendCases: readonly ReplayCase[] = [
  send('sent', { beginSend: [begun], expandAudience: [24], sendLane: [lane('empty')], finishSend: [sent] }),
  send('expanded-before', {
    beginSend: [{ ...begun, expanded: true }],
    sendLane: [lane('empty')],
    finishSend: [sent],
  }),
  send('several-lanes', {
    beginSend: [begunWith(4)],
    expandAudience: [9000],
    sendLane: [share, share, lane('empty'), share, ...Array<SendLaneReport>(4).fill(lane('empty'))],
    finishSend: [unfinished, sent],
  }),
  send('in-doubt', {
    beginSend: [begun],
    expandAudience: [24],
    sendLane: [lane('empty'), lane('empty')],
    finishSend: [inDoubt(300), sent],
  }),
  send('quiet-hours', {
    beginSend: [begun],
    expandAudience: [24],
    sendLane: [lane('empty'), lane('empty'), lane('empty')],
    finishSend: [quiet(300), quiet(200), sent],
  }),
  send(
    'cancelled-in-quiet-hours',
    {
      beginSend: [begun, cancelledRow],
      expandAudience: [24],
      sendLane: [lane('empty'), stopped],
      finishSend: [quiet(36_000_000), endCancelled],
      cleanUpCancelled: [{ done: true, status: 'CANCELLED' }],
    },
    { atTimer: (hand) => hand.wake() },
  ),
  send('share-over-while-in-doubt', {
    beginSend: [begun],
    expandAudience: [24],
    sendLane: [share, lane('empty')],
    finishSend: [inDoubt(50_000), sent],
  }),
  send(
    'woken-while-in-doubt',
    {
      beginSend: [begun],
      expandAudience: [24],
      sendLane: [lane('empty'), lane('empty'), lane('empty')],
      finishSend: [inDoubt(50_000), inDoubt(300), sent],
    },
    { atTimer: (hand) => hand.wake() },
  ),
  send('woken-while-sending', {
    beginSend: [begun],
    expandAudience: [24],
    sendLane: [waking(lane('empty')), lane('empty')],
    finishSend: [inDoubt(50_000), sent],
  }),
  send('held', {
    beginSend: [begunWith(2)],
    expandAudience: [9000],
    sendLane: [held(300), lane('empty'), held(200), held(200), lane('empty'), lane('empty')],
    finishSend: [unfinished, unfinished, sent],
  }),
  send('held-while-expanding', {
    beginSend: [begun],
    expandAudience: [later(1000, 24)],
    sendLane: [held(100), lane('empty')],
    finishSend: [unfinished, sent],
  }),
  send(
    'woken-while-held',
    {
      beginSend: [begun],
      expandAudience: [24],
      sendLane: [held(50_000), lane('empty')],
      finishSend: [unfinished, sent],
    },
    { atTimer: (hand) => hand.wake() },
  ),
  send(
    'held-still',
    { beginSend: [begun], expandAudience: [24], sendLane: [held(50_000)], finishSend: [unfinished] },
    { ends: 'RUNNING' },
  ),
  send('cancelled', {
    beginSend: [begunWith(2), cancelledRow],
    expandAudience: [9000],
    sendLane: [stopped, stopped],
    finishSend: [endCancelled],
    cleanUpCancelled: [
      { done: false, waitMs: 300 },
      { done: true, status: 'CANCELLED' },
    ],
  }),
  send('cancelled-while-expanding', {
    beginSend: [begun, cancelledRow],
    expandAudience: [later(1000, 24)],
    sendLane: [held(100)],
    finishSend: [endCancelled],
    cleanUpCancelled: [{ done: true, status: 'CANCELLED' }],
  }),
  send('cancelled-before-it-began', {
    beginSend: [cancelledRow, { ...view, status: 'DRAFT', lanes: 1 }],
    cleanUpCancelled: [{ done: true, status: 'DRAFT' }],
  }),
  send('cancelled-in-the-ui', cancelledWhileSending, { ends: 'CANCELLED' }),
  // The row is told at once, not when the lanes have ended.
  send('cancelled-in-the-ui-row-first', cancelledWhileSending, { ends: 'CANCELLED' }),
  send(
    'cancelled-in-the-ui-while-in-doubt',
    {
      beginSend: [begun, cancelledRow],
      expandAudience: [24],
      sendLane: [lane('empty')],
      finishSend: [inDoubt(50_000)],
      cancelByOperator: [undefined],
      cleanUpCancelled: [{ done: true, status: 'CANCELLED' }],
    },
    { atTimer: (hand) => hand.cancel(), ends: 'CANCELLED' },
  ),
  send(
    'cancelled-in-the-ui-while-held',
    {
      beginSend: [begun, cancelledRow],
      expandAudience: [24],
      sendLane: [held(50_000)],
      finishSend: [unfinished],
      cancelByOperator: [undefined],
      cleanUpCancelled: [
        { done: false, waitMs: 200 },
        { done: true, status: 'CANCELLED' },
      ],
    },
    { atTimer: (hand) => hand.cancel(), ends: 'CANCELLED' },
  ),
  send(
    'scheduled',
    {
      beginSend: [due(300), begun],
      expandAudience: [24],
      sendLane: [lane('empty')],
      finishSend: [sent],
    },
    { dueAt: '2026-03-01T09:00:00.000Z' },
  ),
  send(
    'scheduled-and-moved',
    {
      beginSend: [due(50_000), moved(300), begun],
      expandAudience: [24],
      sendLane: [lane('empty')],
      finishSend: [sent],
    },
    { dueAt: '2026-03-01T09:00:00.000Z', atTimer: (hand) => hand.wake() },
  ),
  send(
    'scheduled-and-cancelled',
    { beginSend: [due(50_000), { ...begun, status: 'DRAFT' }] },
    { dueAt: '2026-03-01T09:00:00.000Z', atTimer: (hand) => hand.wake() },
  ),
  send('scheduled-still', { beginSend: [due(50_000)] }, { dueAt: '2026-03-01T09:00:00.000Z', ends: 'RUNNING' }),
  send(
    'scheduled-and-cancelled-in-the-ui',
    {
      beginSend: [due(50_000), { ...begun, status: 'DRAFT' }],
      cancelByOperator: [undefined],
      cleanUpCancelled: [{ done: true, status: 'DRAFT' }],
    },
    { dueAt: '2026-03-01T09:00:00.000Z', atTimer: (hand) => hand.cancel(), ends: 'CANCELLED' },
  ),
  send(
    'paused-and-resumed',
    {
      beginSend: [begun, pausedRow, { ...pausedRow, paused: false }],
      expandAudience: [24],
      sendLane: [lane('paused'), lane('empty')],
      finishSend: [pausedEnd, sent],
    },
    {
      async atTimer(hand) {
        await hand.wake();
        await later(500, undefined)();
        await hand.wake();
      },
    },
  ),
  send(
    'paused-still',
    { beginSend: [begun], expandAudience: [24], sendLane: [lane('paused')], finishSend: [pausedEnd] },
    { ends: 'RUNNING' },
  ),
  // What left before the pause is looked up until the provider has said what it took of it.
  send(
    'paused-while-unconfirmed',
    {
      beginSend: [begun, pausedRow, pausedRow, { ...pausedRow, paused: false }],
      expandAudience: [24],
      sendLane: [lane('paused'), lane('empty')],
      finishSend: [pausedEnd, sent],
      settlePaused: [{ waitMs: 50_000 }, { waitMs: 300 }, { waitMs: null }],
    },
    {
      async atTimer(hand) {
        await hand.wake();
        await later(1500, undefined)();
        await hand.wake();
      },
    },
  ),
  send(
    'paused-before-it-began-and-cancelled',
    {
      beginSend: [pausedRow, cancelledRow, cancelledRow],
      sendLane: [stopped],
      finishSend: [endCancelled],
      cleanUpCancelled: [{ done: true, status: 'CANCELLED' }],
    },
    { atTimer: (hand) => hand.wake() },
  ),
  send('canary-passed', {
    beginSend: [canaryBegun],
    expandAudience: [24],
    advanceCanary: [
      canaryStep('send'),
      canaryStep('hold', 300, 8),
      canaryStep('hold', 200, 8),
      canaryStep('over', 0, 8),
    ],
    sendLane: [lane('empty'), lane('empty')],
    finishSend: [sent],
  }),
  send(
    'canary-held-still',
    {
      beginSend: [canaryBegun],
      expandAudience: [24],
      advanceCanary: [canaryStep('send'), canaryStep('hold', 50_000, 8)],
      sendLane: [lane('empty')],
    },
    { ends: 'RUNNING' },
  ),
  send(
    'canary-stopped-and-resumed',
    {
      beginSend: [canaryBegun, { ...pausedRow, paused: false, canary: true }],
      expandAudience: [24],
      advanceCanary: [canaryStep('send'), canaryStep('paused', 0, 8), canaryStep('over', 0, 8)],
      sendLane: [lane('empty'), lane('empty')],
      finishSend: [sent],
    },
    { atTimer: (hand) => hand.wake() },
  ),
  send(
    'canary-cancelled-in-the-ui',
    {
      beginSend: [canaryBegun, cancelledRow],
      expandAudience: [24],
      advanceCanary: [canaryStep('send'), canaryStep('hold', 50_000, 8)],
      sendLane: [lane('empty')],
      cancelByOperator: [undefined],
      cleanUpCancelled: [{ done: true, status: 'CANCELLED' }],
    },
    { atTimer: (hand) => hand.cancel(), ends: 'CANCELLED' },
  ),
  send('gone', { beginSend: [null] }),
  send('gone-while-sending', {
    beginSend: [begun],
    expandAudience: [24],
    sendLane: [stopped],
    finishSend: [{ done: true, waitMs: 0, view: null }],
  }),
  send('sent-before', { beginSend: [{ ...begun, status: 'SENT', expanded: true, sent: 24 }] }),
  send('steps-failed', {
    beginSend: [failed, failed, failed, failed, failed, failed, begun],
    expandAudience: [24],
    sendLane: [lane('empty')],
    finishSend: [failed, failed, sent],
  }),
  send('attempts-failed', {
    beginSend: [begun],
    expandAudience: [failed, 24],
    sendLane: [failed, failed, lane('empty')],
    finishSend: [sent],
  }),
  send(
    'continued',
    {
      beginSend: [begunWith(4), { ...begunWith(4), expanded: true, sent: 6000 }],
      expandAudience: [9000],
      sendLane: Array<SendLaneReport>(28).fill(share),
      finishSend: [...Array<SendEnd>(6).fill(unfinished), sent],
    },
    { runs: 2 },
  ),
];

function send(
  name: string,
  answers: Script,
  {
    ends = 'COMPLETED',
    dueAt,
    ...rest
  }: Pick<Partial<ReplayCase>, 'ends' | 'atTimer' | 'runs'> & { dueAt?: string } = {},
): ReplayCase {
  const campaignId = newId();
  return {
    name: `campaignSend-${name}`,
    launch: {
      workflow: 'campaignSend',
      id: workflowId.campaign(campaignId, 1),
      input: { campaignId, sendSeq: 1 },
      searchAttributes: {
        ProjectId: projectId,
        CampaignId: campaignId,
        Kind: 'campaign',
        State: dueAt === undefined ? 'SENDING' : 'SCHEDULED',
        Recipients: 24,
        ...(dueAt === undefined ? {} : { DueAt: dueAt }),
      },
      memo: { campaign: 'Herons of the estuary', project: 'Wetland watchers', send: 1 },
      staticSummary: 'Campaign "Herons of the estuary"',
    },
    answers,
    ends,
    ...rest,
  };
}

import type { Directive, ShownWait, StepAt } from '../../../src/automations/runtime/directive.ts';
import { newId } from '../../../src/lib/ids.ts';
import { workflowId } from '../../../temporal/commands.ts';
import { failed, later, type ReplayCase, type Script } from './case.ts';

const projectId = newId();
const step = (type: string, name: string): StepAt => ({ id: newId(), type, name, since: '2026-03-02T10:00:00.000Z' });
const delay = step('DELAY', 'Wait 2 days');
const wait = step('WAIT_FOR_EVENT', 'Wait for the order');
const hook = step('WEBHOOK', 'Tell the shop');

const far = '2999-01-01T00:00:00.000Z';
const goOn = (seq: number): Directive => ({ next: 'goOn', seq });
// The recorder's clock is of now, so what is due soon is a function of it.
const soon = (ms: number) => new Date(Date.now() + ms).toISOString();
const sleep = (seq: number, until: string): Directive => ({
  next: 'sleep',
  seq,
  until,
  step: delay,
  summary: 'delay 2 days · "Wait 2 days"',
});
const sleepFor = (seq: number, ms: number) => async () => sleep(seq, soon(ms));
const awaitEvent = (seq: number, until: string | null): Directive => ({
  next: 'wait',
  seq,
  until,
  event: 'order.paid',
  step: wait,
  summary: 'wait for order.paid · "Wait for the order"',
});
const call = (seq: number): Directive => ({
  next: 'http',
  seq,
  stepRunId: newId(),
  step: hook,
  summary: 'webhook · "Tell the shop"',
});
const done = (
  seq: number,
  status: 'COMPLETED' | 'EXITED' | 'FAILED' | 'CANCELLED',
  reason: string | null = null,
): Directive => ({
  next: 'done',
  seq,
  status,
  reason,
  stepId: status === 'COMPLETED' ? null : newId(),
});
const gone: Directive = { next: 'done', seq: 0, status: 'GONE', reason: null, stepId: null };

/** Ways through `automation`. */
export const automationCases: readonly ReplayCase[] = [
  // TRIGGER, SEND_EMAIL, CONDITION, UPDATE_CONTACT and EXIT are cheap: they are all within one answer.
  run('cheap-steps', { advanceRun: [done(5, 'EXITED', 'converted')] }),
  run('more-cheap-steps-than-one-transaction-allows', {
    advanceRun: [goOn(25), goOn(50), done(61, 'COMPLETED')],
  }),
  run('delay', { advanceRun: [sleepFor(2, 300), done(4, 'COMPLETED')] }),
  run('delay-that-the-database-sees-later', { advanceRun: [sleepFor(2, 100), sleepFor(2, 0), done(4, 'COMPLETED')] }),
  run(
    'delay-moved',
    { advanceRun: [sleep(2, far), sleepFor(2, 200), done(4, 'COMPLETED')] },
    { atTimer: (hand) => hand.resume(2) },
  ),
  run('delay-still', { advanceRun: [sleep(2, far)] }, { ends: 'RUNNING' }),
  run('event', { advanceRun: [awaitEvent(2, far), done(4, 'EXITED', 'paid')] }, { atTimer: (hand) => hand.resume(2) }),
  // The same with a summary of each local activity, which earlier ones have not.
  run(
    'event-with-summaries',
    { advanceRun: [awaitEvent(2, far), done(4, 'EXITED', 'paid')] },
    { atTimer: (hand) => hand.resume(2) },
  ),
  // The start shows the wait, so no task has to.
  run(
    'shown-by-its-start',
    { advanceRun: [{ ...awaitEvent(2, far), isShown: true }, done(4, 'EXITED', 'paid')] },
    { atTimer: (hand) => hand.resume(2), shown: { waitingFor: 'order.paid', dueAt: far } },
  ),
  run(
    'shown-otherwise-by-its-start',
    { advanceRun: [{ ...goOn(25), isShown: false }, call(27), done(29, 'COMPLETED')], callWebhook: [undefined] },
    { shown: { waitingFor: 'order.paid', dueAt: far } },
  ),
  // A worker of the release before those began it: its answers say nothing of what is shown.
  run(
    'shown-by-its-start-to-an-earlier-release',
    { advanceRun: [awaitEvent(2, far), done(4, 'EXITED', 'paid')] },
    { atTimer: (hand) => hand.resume(2), shown: { waitingFor: 'order.paid', dueAt: far } },
  ),
  run('timeout', {
    advanceRun: [async () => awaitEvent(2, soon(300)), done(4, 'EXITED', 'late')],
  }),
  run('event-without-a-timeout', {
    advanceRun: [
      sleepFor(1, 200),
      async (hand) => {
        setTimeout(() => void hand.resume(2), 500);
        return awaitEvent(2, null);
      },
      done(4, 'COMPLETED'),
    ],
  }),
  run('event-before-the-wait-is-known', {
    advanceRun: [
      async (hand) => {
        await hand.resume(2);
        return later(200, awaitEvent(2, far))();
      },
      done(4, 'COMPLETED'),
    ],
  }),
  run(
    'signals-of-earlier-steps',
    { advanceRun: [awaitEvent(4, far), done(6, 'COMPLETED')] },
    {
      async atTimer(hand) {
        for (const seq of [1, 2, 3, 4]) await hand.resume(seq);
      },
    },
  ),
  run('webhook', { advanceRun: [call(2), done(4, 'COMPLETED')], callWebhook: [undefined] }),
  run('webhook-repeated', {
    advanceRun: [call(2), done(4, 'COMPLETED')],
    callWebhook: [failed, failed, undefined],
  }),
  run('every-kind-of-step', {
    advanceRun: [
      sleepFor(3, 150),
      async () => awaitEvent(4, soon(150)),
      call(6),
      goOn(31),
      done(34, 'EXITED', 'converted'),
    ],
    callWebhook: [undefined],
  }),
  run('failed', {
    advanceRun: [call(2), done(2, 'FAILED', 'hooks.acme.test: the connection was refused')],
    callWebhook: [undefined],
  }),
  run('gone', { advanceRun: [gone] }),
  run('cancelled-by-the-service', {
    advanceRun: [sleepFor(2, 100), done(2, 'CANCELLED', 'Project disabled')],
  }),
  run(
    'cancelled-in-the-ui',
    { advanceRun: [sleep(2, far)], cancelRun: [undefined] },
    { atTimer: (hand) => hand.cancel(), ends: 'CANCELLED' },
  ),
  run('steps-failed', {
    advanceRun: [failed, failed, failed, failed, failed, failed, sleepFor(2, 100), failed, done(4, 'COMPLETED')],
  }),
  // A run that somebody moved to another version while it waited: it is told to look again, and waits for something else.
  run(
    'migrated',
    { advanceRun: [sleep(2, far), async () => awaitEvent(3, soon(200)), sleepFor(4, 100), done(6, 'COMPLETED')] },
    { atTimer: (hand) => hand.resume(2) },
  ),
  // As the reconciler starts it after the store was lost.
  run('started-again', { advanceRun: [sleepFor(8, 100), done(10, 'COMPLETED')] }),
  run(
    'continued',
    { advanceRun: [...Array.from({ length: 24 }, (_, n) => sleepFor(n + 2, 20)), done(30, 'COMPLETED')] },
    { runs: 2 },
  ),
];

function run(
  name: string,
  answers: Script,
  {
    ends = 'COMPLETED',
    shown,
    ...rest
  }: Pick<Partial<ReplayCase>, 'ends' | 'atTimer' | 'runs'> & { shown?: ShownWait } = {},
): ReplayCase {
  const [automationId, contactId, executionId] = [newId(), newId(), newId()];
  return {
    name: `automation-${name}`,
    launch: {
      workflow: 'automation',
      id: workflowId.automation(automationId, contactId, 1),
      input: { executionId, ...(shown && { shown }) },
      searchAttributes: {
        ProjectId: projectId,
        AutomationId: automationId,
        ContactId: contactId,
        ExecutionId: executionId,
        Kind: 'automation',
        State: shown ? 'WAITING' : 'RUNNING',
        ...(shown && { WaitingFor: shown.waitingFor }),
        ...(shown?.dueAt && { DueAt: shown.dueAt }),
      },
      memo: { automation: 'Onboarding', project: 'Wetland watchers', entry: 1, version: 1 },
      staticSummary: 'Automation "Onboarding"',
    },
    answers,
    ends,
    ...rest,
  };
}

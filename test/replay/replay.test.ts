/**
 * A change of workflow code must not break executions that are open while it is deployed: on their next step the new code
 * is run over what they have done so far, and it has to ask for the same things in the same order. `histories/` holds a
 * history for each way through each workflow; here the current code is run over all of them. It needs no server.
 *
 * When a test fails:
 * 1. The workflow is in a release: put what is new behind `patched('<a name>')` and leave the old way in place, until
 *    nobody can have an execution that began before. The old file stays; a new case shows the new way.
 * 2. No release has it: record the case anew (`node test/replay/record.ts <case>`).
 * 3. A workflow type is new: write its cases in `cases/` and run `node test/replay/record.ts`.
 *
 * What activities do inside, and what they answer, may change freely as long as old answers are still understood.
 */
import { fileURLToPath } from 'node:url';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { bundleWorkflowCode, type ReplayResult, Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { pino } from 'pino';
import { beforeAll, describe, expect, test } from 'vitest';
import { installTemporalRuntime } from '../../src/main/worker/temporal-workers.ts';
import { type WorkflowBundle, workflowBundle } from '../../src/main/worker/workflow-bundle.ts';
import * as workflows from '../../workflows/index.ts';
import { type SavedHistory, savedHistories } from './histories.ts';

const saved = savedHistories();

beforeAll(() => void installTemporalRuntime(pino({ level: 'silent' }), null));

/** Runs the code over each history; answers what came of them, by name. */
async function replay(bundle: WorkflowBundle, histories: readonly SavedHistory[]): Promise<Map<string, ReplayResult>> {
  const results = new Map<string, ReplayResult>();
  const replayed = Worker.runReplayHistories(
    { workflowBundle: bundle },
    histories.map(({ workflowId, events }) => ({ workflowId, history: historyFromJSON({ events }) })),
  );
  // One is replayed after the other, so the results come in the order of the histories.
  for await (const result of replayed) {
    const { name = '', workflowId } = histories[results.size] ?? {};
    expect(result.workflowId).toBe(workflowId);
    results.set(name, result);
  }
  return results;
}

describe('current workflow code goes on with', () => {
  let results: Map<string, ReplayResult>;
  beforeAll(async () => {
    results = await replay(await workflowBundle(), saved);
  });

  test.each(saved.map(({ name }) => name))('%s', (name) => {
    const result = results.get(name);
    expect(result).toBeDefined();
    expect(result?.error).toBeUndefined();
  });
});

describe('what is saved', () => {
  test('shows every workflow type', () => {
    const shown = new Set(saved.map(({ workflowType }) => workflowType));
    expect([...shown].sort()).toEqual(Object.keys(workflows).sort());
  });

  test('is whole, named after its type, and names no machine', () => {
    for (const { name, workflowType, events, text } of saved) {
      expect(name).toMatch(new RegExp(`^${workflowType}-`));
      expect(
        events.map(({ eventId }) => Number(eventId)),
        name,
      ).toEqual(events.map((_, index) => index + 1));
      expect(
        events.map(({ eventType }) => eventType),
        name,
      ).toContain('EVENT_TYPE_WORKFLOW_TASK_COMPLETED');
      expect(new Set(text.match(/"identity":"[^"]*"/g)), name).toEqual(new Set(['"identity":"recorder"']));
      expect(text, name).not.toMatch(/"stackTrace"|"workerVersion"|file:/);
    }
  });
});

describe('code that was changed', () => {
  let changed: WorkflowBundle;
  beforeAll(async () => {
    const quiet = () => undefined;
    changed = await bundleWorkflowCode({
      workflowsPath: fileURLToPath(new URL('./changed-workflows.ts', import.meta.url)),
      logger: { trace: quiet, debug: quiet, info: quiet, log: quiet, warn: quiet, error: quiet },
    });
  });

  async function resultOf(name: string): Promise<ReplayResult | undefined> {
    const results = await replay(
      changed,
      saved.filter((history) => history.name === name),
    );
    return results.get(name);
  }

  test.each([
    ['takes a step more at the beginning', 'emailDelivery-delivered'],
    ['takes a step more at the end', 'segmentSweep-one-page'],
    ['leaves a step out', 'segmentCompute-pausing-after-a-failure'],
    ['calls another activity', 'reconcile-done'],
  ])('is found when it %s', async (_, name) => {
    const result = await resultOf(name);
    expect(result?.error).toBeInstanceOf(DeterminismViolationError);
  });

  test('is let pass when only new executions take the new step', async () => {
    const result = await resultOf('retention-done');
    expect(result).toBeDefined();
    expect(result?.error).toBeUndefined();
  });
});

import { expect, test } from 'vitest';
import type { Directive } from '../../src/automations/runtime/directive.ts';
import { newId } from '../../src/lib/ids.ts';
import { type StartCommand, workflowId } from '../../temporal/commands.ts';
import { testTemporal, testWorker } from '../support/worker.ts';

const many = 120;

test('many contacts of a project who go on at one instant do not hold up a contact of another project', async () => {
  await using server = await testTemporal();
  const [large, small] = [newId(), newId()];
  // Without a worker, what is to be done waits in the queue of Temporal.
  for (let n = 0; n < many; n += 20)
    await Promise.all(Array.from({ length: 20 }, () => server.perform(aRun(large, newId()))));
  const one = newId();
  await server.perform(aRun(small, one));
  const order: string[] = [];
  const done: Directive = { next: 'done', seq: 1, status: 'COMPLETED', reason: null, stepId: null };
  await using _worker = await testWorker({
    activities: {
      advanceRun: async (runId: string) => {
        order.push(runId);
        return done;
      },
    },
    queues: ['automation'],
    queuePrefix: server.queuePrefix,
  });
  await expect.poll(() => new Set(order).size).toBe(many + 1);
  expect(order.indexOf(one)).toBeLessThan(many / 2);
});

function aRun(projectId: string, executionId: string): StartCommand {
  return {
    type: 'start',
    workflow: 'automation',
    id: workflowId.automation(projectId, executionId, 1),
    input: { executionId },
    searchAttributes: { ProjectId: projectId, ExecutionId: executionId, Kind: 'automation' },
  };
}

import { expect, test } from 'vitest';
import { answerMcp, type McpContext, type PlannedAction } from '../../../src/insight/mcp/server.ts';

const preview = { deletes: 2_000_000, restores: 1, conflicts: [], keeps: [{ reason: 'has mail', count: 3 }] };
const unfinished = () =>
  Object.assign(new Error('Send the same request again'), { status: 409, code: 'PREVIEW_UNFINISHED' });

/** Plans an undo whose preview takes some requests more than one. */
async function planUndo(unfinishedRequests: number) {
  const planned: PlannedAction[] = [];
  let requests = 0;
  const context = {
    mode: 'plan',
    call: async () => {
      if (requests++ < unfinishedRequests) throw unfinished();
      return preview;
    },
    plan: async (action: PlannedAction) => {
      planned.push(action);
      return { planId: 'the plan' };
    },
  } as unknown as McpContext;
  const params = { name: 'plan_undo', arguments: { kind: 'import', jobId: 'import-1' } };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  const answer = await answerMcp(context, { body, protocolVersion: '' });
  return { planned, requests, result: JSON.parse(answer.body).result };
}

test('a preview that takes several requests is asked for until it is counted', async () => {
  const { planned, requests, result } = await planUndo(3);
  expect(requests).toBe(4);
  expect(result.structuredContent).toEqual({ planId: 'the plan' });
  expect(planned).toMatchObject([{ action: 'undo', affects: 2_000_001 }]);
});

test('a preview that takes longer than a client waits is told, so that the model asks again', async () => {
  const { planned, requests, result } = await planUndo(100);
  expect(requests).toBe(5);
  expect(result).toMatchObject({ isError: true, structuredContent: { error: { code: 'PREVIEW_UNFINISHED' } } });
  expect(planned).toEqual([]);
});

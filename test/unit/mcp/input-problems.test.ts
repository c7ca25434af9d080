import { expect, test } from 'vitest';
import { answerMcp, type McpContext } from '../../../src/insight/mcp/server.ts';

async function refusalOf(name: string, input: object): Promise<unknown> {
  const context = { mode: 'act' } as unknown as McpContext;
  const params = { name, arguments: input };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  return JSON.parse((await answerMcp(context, { body, protocolVersion: '' })).body).result.structuredContent;
}

test.each([
  ['plan_send_email', { to: ['nobody'] }, '"to.0" must be an email address.'],
  ['plan_send_email', {}, '"to" is required.'],
  ['plan_send_email', { to: ['ada@example.com'], cc: 'x' }, '"cc" is not an argument of this tool.'],
  ['plan_send_email', { to: [] }, '"to" must not be empty.'],
  ['contact_story', { contactId: 'ada' }, '"contactId" must be a UUID.'],
  ['find_contact', { search: 7, limit: 99 }, '"search" must be string, not number. "limit" must be at most 50.'],
])('%s with %j is refused in our words', async (name, input, message) => {
  expect(await refusalOf(name, input)).toEqual({ error: { code: 'VALIDATION_ERROR', message } });
});

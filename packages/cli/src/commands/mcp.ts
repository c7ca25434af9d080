import { createInterface } from 'node:readline';
import { urlOf } from '@fernpost/sdk';
import { Command } from 'commander';
import { keyedTargetOf } from '../settings.ts';

/** `fernpost mcp`: the tools of the service on standard input and output, for clients that start a program. */
export function mcpCommand(): Command {
  return new Command('mcp')
    .description('tools for language models on standard input and output; the key decides what they may do')
    .action(async (_, command: Command) => {
      const { url, key } = keyedTargetOf(command);
      const target = urlOf(url, '/mcp');
      const underWay = new Set<Promise<void>>();
      // The service answers each message by itself, so they need not wait for one another.
      for await (const line of createInterface({ input: process.stdin })) {
        if (line.trim() === '') continue;
        const answer = forward(target, key, line).finally(() => underWay.delete(answer));
        underWay.add(answer);
      }
      await Promise.all(underWay);
    });
}

async function forward(target: URL, key: string, message: string): Promise<void> {
  const answer = await ask(target, key, message).catch((error: unknown) => failure(message, String(error)));
  if (answer !== '') process.stdout.write(`${answer}\n`);
}

async function ask(target: URL, key: string, message: string): Promise<string> {
  const response = await fetch(target, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${key}`,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
    },
    body: message,
  });
  const body = await response.text();
  if (response.ok || body.includes('"jsonrpc"')) return body;
  return failure(message, `the service answered ${response.status}: ${body.slice(0, 500)}`);
}

/** The error of a request; a notification gets no answer. */
function failure(message: string, text: string): string {
  try {
    const { id } = JSON.parse(message) as { id?: unknown };
    return id === undefined ? '' : JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_000, message: text } });
  } catch {
    return JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32_700, message: 'Parse error' } });
  }
}

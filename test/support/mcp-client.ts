import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

/** The official client of the Model Context Protocol, connected with a key. */
export async function mcpClient(url: string, key: string, fetcher: typeof fetch = fetch): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', url), {
    requestInit: { headers: { Authorization: `Bearer ${key}` } },
    fetch: fetcher,
  });
  await client.connect(transport);
  return client;
}

// biome-ignore lint/suspicious/noExplicitAny: a test names what it expects of a result.
export type ToolResult = any;

/** What a tool returns; a refusal is in `failed`. */
export async function useTool(client: Client, name: string, input: object = {}): Promise<ToolResult> {
  const { structuredContent, isError } = await client.callTool({ name, arguments: { ...input } });
  return isError ? { failed: (structuredContent as { error: { code: string } }).error } : structuredContent;
}

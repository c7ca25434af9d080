import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa, { type Context } from 'koa';
import { koaBody } from 'koa-body';
import { Pool } from 'pg';
import { newId } from '../../src/lib/ids.ts';

/**
 * The floor of the API benchmarks, as little as can be: Koa with koa-body, and one prepared statement that upserts the
 * contact and inserts the event, or the email. No keys, limits, validation or rendering.
 */
export async function startFloor(
  databaseUrl: string,
  projectId: string,
): Promise<{ url: string; close(): Promise<void> }> {
  const pool = new Pool({ connectionString: databaseUrl, max: 10 });
  const koa = new Koa();
  koa.use(koaBody());
  koa.use(async (ctx) => {
    const body = (ctx as Context & { request: { body: Record<string, unknown> } }).request.body;
    const values = [
      projectId,
      newId(),
      ctx.path === '/track' ? body.email : body.to,
      JSON.stringify(body.data),
      newId(),
    ];
    ctx.body =
      ctx.path === '/track'
        ? (await pool.query({ name: 'floor.track', text: track, values: [...values, body.event] })).rows[0]
        : (
            await pool.query({
              name: 'floor.send',
              text: send,
              values: [...values, body.from, body.subject, body.body],
            })
          ).rows[0];
  });
  const server = createServer(koa.callback());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await pool.end();
    },
  };
}

const contact = `
  with contact as (
    insert into contacts as c (id, project_id, email, subscribed, data)
    values ($2, $1, $3, true, $4::jsonb)
    on conflict (project_id, email) do update set data = c.data || excluded.data, updated_at = now()
    returning id)`;
const track = `${contact}
  insert into events (id, project_id, contact_id, name, data) select $5, $1, id, $6, $4::jsonb from contact returning id, contact_id`;
const send = `${contact}
  insert into emails (id, project_id, contact_id, to_address, "from", subject, body, source_type, message_class)
  select $5, $1, id, $3, $6, $7, $8, 'TRANSACTIONAL', 'TRANSACTIONAL' from contact returning id, contact_id`;

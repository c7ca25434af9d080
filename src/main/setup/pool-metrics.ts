import type { Pool } from 'pg';
import { Gauge, type Registry } from 'prom-client';

/** Adds what the connection pool of this process is doing; read from memory, so it is there while the pool is exhausted. */
export function measurePool(registry: Registry, pool: Pool): void {
  new Gauge({
    name: 'fernpost_pool_connections',
    help: 'Connections to Postgres of this process, by what they are doing',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      this.set({ state: 'idle' }, pool.idleCount);
      this.set({ state: 'busy' }, pool.totalCount - pool.idleCount);
    },
  });
  new Gauge({
    name: 'fernpost_pool_waiting',
    help: 'Statements that wait for a connection to Postgres',
    registers: [registry],
    collect() {
      this.set(pool.waitingCount);
    },
  });
}

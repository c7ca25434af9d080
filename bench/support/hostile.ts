import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The requests of a hostile project, with their payload. */
export interface HostileOrder {
  load: string;
  url: string;
  publicKey: string;
  secretKey: string;
  /** Of SMTP. */
  connections: number;
  sender: string;
  campaignId: string;
  /** Of the contact with the most mail and events. */
  contact: string;
}

/** One request. */
export interface HostileRequest {
  path: string;
  method?: 'GET' | 'POST';
  key?: 'publicKey' | 'secretKey';
  json?: object;
  /** A CSV file, as multipart. */
  file?: string;
}

interface HostileLoad {
  connections: number;
  /** Most requests of one round. */
  most: number;
  request(n: number, order: HostileOrder): HostileRequest;
}

/** How often each status was answered. `isWhole`: requests were made until the end, or all connections were tried. */
export interface HostileResult {
  statuses: Record<string, number>;
  isWhole: boolean;
}

// Ten fields of 200 filters that no contact fulfils, so that each is evaluated for each contact; the number keeps counts from being reused.
const slowest = (n: number) => ({
  logic: 'OR',
  groups: Array.from({ length: 20 }, (_, group) => ({
    filters: Array.from({ length: 10 }, (_, filter) => ({
      field: `data.${['firstName', 'country', 'plan', 'signup'][filter % 4]}`,
      operator: 'contains',
      value: `nobody ${n} ${group} ${filter}`,
    })),
  })),
});

const megabytes = 1024 * 1024;
const headers = [
  `email,${'a'.repeat(4 * megabytes)}\nada@example.com,1\n`,
  `email${',b'.repeat(2 * megabytes)}\nada@example.com,1\n`,
  `email,"${'c\n'.repeat(2 * megabytes)}\nada@example.com,1\n`,
];

// Each asks for all the steps there are, in another way; the number makes each a template of its own.
const templates: readonly ((n: number) => string)[] = [
  (n) => `${n}{% for a in (1..300) %}{% for b in (1..300) %}{{ b | times: a | plus: ${n} }}{% endfor %}{% endfor %}`,
  (n) => `${n}${'{{ a | append: "x" | upcase }} '.repeat(4_000)}`,
  (n) => `${n}${'<table><tr><td>x</td></tr></table>'.repeat(6_000)}`,
  (n) => `${n}{% assign x = "a,b,c,d" | split: "," %}${'{% assign x = x | push: x %}'.repeat(60)}{{ x }}`,
  (n) => `${n}${'<a href="{{ unsubscribeUrl }}">{{ a }}</a>'.repeat(3_000)}`,
];

const days = (count: number) => new Date(Date.now() - count * 86_400_000).toISOString();
const window = () => `startDate=${days(89)}&endDate=${days(0)}`;

/** The loads of requests by name; `smtp`, which is none of requests, has no entry. */
export const hostileLoads: Record<string, HostileLoad> = {
  previews: {
    connections: 30,
    most: 5_000,
    request: (n) => ({ path: '/segments/preview', json: { condition: slowest(n) } }),
  },
  imports: {
    connections: 8,
    most: 500,
    request: (n) => ({
      path: n % 2 === 0 ? '/contacts/import' : '/contacts/import/preview',
      file: headers[n % headers.length] ?? '',
    }),
  },
  track: {
    connections: 50,
    most: 50_000,
    request: (n) => ({
      path: '/v1/track',
      key: 'publicKey',
      json: { email: `flood.${n % 10_000}@example.com`, event: `flood ${n % 10}`, data: { n } },
    }),
  },
  exports: {
    connections: 10,
    most: 1_000,
    request: (n) =>
      n % 2 === 0
        ? { path: '/contacts/export', json: { columns: ['email', 'data.plan', 'data.firstName', 'createdAt'] } }
        : { path: '/emails/export', json: { from: days(31), until: days(0) } },
  },
  analytics: {
    connections: 30,
    most: 20_000,
    request: (n) => ({
      method: 'GET',
      path: [
        `/analytics/timeseries?${window()}`,
        `/analytics/top-campaigns?${window()}`,
        `/analytics/campaign-stats?${window()}`,
        `/analytics/top-events?${window()}`,
      ][n % 4] as string,
    }),
  },
  explain: {
    connections: 30,
    most: 20_000,
    request: (n, { campaignId, contact }) => ({
      path: '/explain',
      json: { contact, about: n % 2 === 0 ? { topic: 'any' } : { campaignId } },
    }),
  },
  'dry runs': {
    connections: 2,
    most: 200,
    request: (_, { campaignId }) => ({ path: `/campaigns/${campaignId}/dry-run`, json: {} }),
  },
  templates: {
    connections: 4,
    most: 300,
    request: (n, { sender }) => ({
      path: '/v1/send',
      json: { to: `x${n}@example.com`, from: sender, subject: 'x', body: templates[n % templates.length]?.(n) },
    }),
  },
};

/** Runs a load in a process of its own until `stop`, which resolves when the last answer is there. */
export function startHostile(order: HostileOrder): { stop(): Promise<HostileResult> } {
  const child = fork(fileURLToPath(new URL('./hostile-child.ts', import.meta.url)), { stdio: 'inherit' });
  const result = new Promise<HostileResult>((resolve, reject) => {
    child.once('message', (message) => resolve(message as HostileResult));
    child.once('exit', (code) => reject(new Error(`the load ${order.load} ended with ${code}`)));
  });
  result.catch(() => undefined);
  child.send(order);
  return {
    stop() {
      if (child.connected) child.send('stop');
      return result;
    },
  };
}

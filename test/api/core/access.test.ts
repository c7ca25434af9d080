import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Route } from '../../../src/http/route.ts';
import { systemRoutes } from '../../../src/http/system.ts';
import { type Scope, scopes } from '../../../src/lib/enums.ts';
import { newId } from '../../../src/lib/ids.ts';
import { routes } from '../../../src/main/api/routes.ts';
import {
  type Caller,
  callers,
  refusedWhenDisabled,
  ruleOf,
  rules,
  scopeOf,
  type Verdict,
} from '../../support/access-rules.ts';
import { type Answer, aProject, type TestApi, type TestProject, testApi } from '../../support/api.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { type ForeignWorld, foreignBodies, foreignWorld } from '../../support/foreign-world.ts';
import { aPerson, joins, type Person, sessionOf } from '../../support/people.ts';

const all: readonly Route[] = [...systemRoutes({} as never, () => null), ...routes];
const nameOf = ({ method, path }: Route) => `${method} ${path}`;

let database: TestDatabase;
let api: TestApi;
let project: TestProject;
let other: TestProject;
let people: Record<'OWNER' | 'ADMIN' | 'MEMBER' | 'stranger', Person>;

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database, {
    SIGNUP_RATE_LIMIT_PER_IP: '0',
    METRICS_TOKEN: randomBytes(32).toString('hex'),
    // Without billing its routes are not there for anybody. Nothing listens where its processor should be.
    STRIPE_SK: 'sk_test_nobody',
    STRIPE_WEBHOOK_SECRET: 'whsec_nobody',
    STRIPE_PRICE_EMAIL_USAGE: 'price_nobody',
    STRIPE_API_URL: 'http://127.0.0.1:9',
  });
  const person = (name: string) => aPerson(database.db, api.config, { name });
  people = {
    OWNER: await person('hanna.beck'),
    ADMIN: await person('emil.roos'),
    MEMBER: await person('sara.lind'),
    stranger: await person('nils.falk'),
  };
  project = await staffed('In question');
  other = await aProject(database, 'Another');
});

afterAll(async () => {
  await api?.close();
  await database?.close();
});

async function staffed(name: string): Promise<TestProject> {
  const made = await aProject(database, name);
  await database.db.count('update memberships set user_id = $2 where project_id = $1', [made.id, people.OWNER.id]);
  await joins(database.db, made.id, people.ADMIN, 'ADMIN');
  await joins(database.db, made.id, people.MEMBER, 'MEMBER');
  return made;
}

/** Makes the request of a caller to a route; what the path names below the project is nobody's. */
async function knock(route: Route, caller: Caller, of: TestProject): Promise<Answer> {
  const path = pathOf(route, of);
  const body = route.method === 'GET' ? undefined : {};
  // Whoever signs out does so of a session that nobody else uses here, or of an account of their own.
  const visitor = async (who: keyof typeof people) => {
    if (nameOf(route) === 'DELETE /users/@me/sessions') return aPerson(database.db, api.config);
    if (route.path !== '/auth/logout') return people[who];
    return { ...people[who], session: await sessionOf(api.config, people[who].id) };
  };
  const session = (person: Person, named = true) =>
    api.call(null, route.method, path, body, { ...person.session, ...(named ? { 'X-Project-Id': of.id } : {}) });
  switch (caller) {
    case 'no key':
      return api.call(null, route.method, path, body);
    case 'public key':
      return api.call(of.publicKey, route.method, path, body);
    case 'secret key':
      return api.call(of.secretKey, route.method, path, body);
    case "another project's key":
      return api.call(other.secretKey, route.method, path, body);
    case 'ADMIN without X-Project-Id':
      return session(await visitor('ADMIN'), false);
    default:
      return session(await visitor(caller));
  }
}

function pathOf(route: Route, of: TestProject): string {
  const inPath = /^\/(users\/@me\/projects|projects)\//.test(route.path);
  return route.path.replaceAll(/:(\w+)/g, (_, name: string) => {
    if (name === 'projectId' || (name === 'id' && inPath)) return of.id;
    return name === 'processor' ? 'stripe' : /id$/i.test(name) ? newId() : 'nothing';
  });
}

/** The same request with any key. */
function knockWith(route: Route, key: string, of: TestProject): Promise<Answer> {
  return api.call(key, route.method, pathOf(route, of), route.method === 'GET' ? undefined : {});
}

/** What the door said: `in` for whatever is no refusal of the caller. */
function verdictOf({ status, body }: Answer): string {
  const { code, details } = body?.error ?? {};
  const refused =
    ['MISSING_AUTH', 'INVALID_API_KEY', 'UNAUTHORIZED', 'PROJECT_ACCESS_DENIED', 'PROJECT_DISABLED'].includes(code) ||
    code === 'EMAIL_VERIFICATION_REQUIRED' ||
    (code === 'FORBIDDEN' && ['role', 'key', 'origin'].includes(details?.reason)) ||
    (status === 404 && (details?.resource === 'project' || (code === 'RESOURCE_NOT_FOUND' && !details))) ||
    (status === 400 && /X-Project-Id/.test(body?.error?.message ?? ''));
  return refused || (status >= 500 && status !== 503) ? `${status} ${code}` : 'in';
}

const shown = (verdict: Verdict) => (verdict === 'in' ? 'in' : verdict.join(' '));

/** Everything of some projects, and how many users, projects and members there are. */
async function stateOf(...projects: TestProject[]): Promise<string> {
  const tables = await database.db.rows<{ name: string }>(
    `select c.table_name as name from information_schema.columns c
     join information_schema.tables t using (table_schema, table_name)
     where c.table_schema = 'public' and t.table_type = 'BASE TABLE' and c.column_name = 'project_id' order by 1`,
  );
  const digests = [...tables.map(({ name }) => [name, 'project_id']), ['projects', 'id']].map(
    ([table, column]) =>
      `select '${table}' as name, coalesce(md5(string_agg(md5(t::text), '' order by md5(t::text))), '') as digest
       from ${table} t where ${column} = any($1::uuid[])`,
  );
  const rows = await database.db.rows<{ name: string; digest: string }>(
    `${digests.join(' union all ')} union all select 'all', (select count(*) from users) || ' ' ||
       (select count(*) from projects) || ' ' || (select count(*) from memberships) || ' ' || (select count(*) from account_tokens)
     order by 1`,
    [projects.map(({ id }) => id)],
  );
  return rows.map(({ name, digest }) => `${name} ${digest}`).join('\n');
}

test('every route has a rule', () => {
  expect(all.filter(({ method, path }) => ruleOf(method, path) === undefined).map(nameOf)).toEqual([]);
});

test('the description of the API says of every route who may call it', async () => {
  const { body } = await api.call(null, 'GET', '/openapi.json');
  const schemes: Record<string, string[]> = {
    open: [],
    metricsToken: [],
    publicKey: ['publicKey'],
    secretKey: ['secretKey'],
    person: ['sessionCookie'],
    personAlone: ['sessionCookie'],
    projectOfAdminsInPerson: ['sessionCookie'],
    contentOfAdminsInPerson: ['sessionCookie'],
    contentOfOwnersInPerson: ['sessionCookie'],
  };
  const [found, due]: [string[], string[]] = [[], []];
  for (const route of all) {
    const rule = ruleOf(route.method, route.path) ?? 'open';
    const operation = body.paths[route.path.replaceAll(/:(\w+)/g, '{$1}')][route.method.toLowerCase()];
    const named = operation.security.flatMap((one: object) => Object.keys(one));
    for (const name of named) expect(body.components.securitySchemes).toHaveProperty(name);
    found.push(`${nameOf(route)}: ${named.join(' or ')}`);
    due.push(`${nameOf(route)}: ${(schemes[rule] ?? ['secretKey', 'sessionCookie']).join(' or ')}`);
    if (/OfAdmins/.test(rule)) expect(operation.description, nameOf(route)).toContain('role ADMIN');
    if (/OfOwners/.test(rule)) expect(operation.description, nameOf(route)).toContain('role OWNER');
  }
  expect(found).toEqual(due);
});

describe('who may call what', () => {
  const expected = (route: Route) => rules[ruleOf(route.method, route.path) ?? 'open'];

  test('whoever is to be refused is refused, by every route, and nothing is written', async () => {
    const before = await stateOf(project, other);
    const [found, due]: [string[], string[]] = [[], []];
    for (const route of all) {
      const refused = callers.filter((caller) => expected(route)[caller] !== 'in');
      const answers = await Promise.all(refused.map((caller) => knock(route, caller, project)));
      for (const [place, answer] of answers.entries()) {
        const caller = refused[place] as Caller;
        found.push(`${nameOf(route)} · ${caller}: ${answer.status} ${answer.body?.error?.code}`);
        due.push(`${nameOf(route)} · ${caller}: ${shown(expected(route)[caller])}`);
        expect(JSON.stringify(answer.body)).not.toMatch(/(sk|pk)_[0-9a-f]{8}/);
        expect(answer.headers.getSetCookie()).toEqual([]);
      }
    }
    expect(found).toEqual(due);
    expect(due.length).toBeGreaterThan(200);
    expect(await stateOf(project, other)).toBe(before);
  });

  test('whoever may call is let in, by every route', async () => {
    const [found, due]: [string[], string[]] = [[], []];
    const enter = async (route: Route, caller: Caller) => {
      const answer = await knock(route, caller, await projectFor(route));
      const told = answer.status === 401 && isOpen(route) ? 'in' : verdictOf(answer);
      return `${nameOf(route)} · ${caller}: ${told}`;
    };
    for (const route of all) {
      const entering = callers.filter((caller) => expected(route)[caller] === 'in');
      found.push(...(await Promise.all(entering.map((caller) => enter(route, caller)))));
      due.push(...entering.map((caller) => `${nameOf(route)} · ${caller}: in`));
    }
    expect(found).toEqual(due);
    // Over a thousand requests, many of which write.
  });

  // What changes the project itself gets one of its own. One that is being reset answers 409 behind the door, instead of
  // going away.
  async function projectFor(route: Route): Promise<TestProject> {
    if (route.method === 'GET' || !/\/projects\/:id/.test(route.path)) return project;
    const own = await staffed('Disposable');
    if (refusedWhenDisabled.has(nameOf(route)))
      await database.db.count('update projects set resetting = true where id = $1', [own.id]);
    return own;
  }

  // These look for a password, a token or a signature of their own.
  function isOpen(route: Route): boolean {
    return ruleOf(route.method, route.path) === 'open';
  }

  test('a disabled project is read and not written to, but its members may rename it, rotate keys and see to payment', async () => {
    const paused = await staffed('Paused');
    await database.db.count(`update projects set disabled = true, disabled_reason = 'MANUAL' where id = $1`, [
      paused.id,
    ]);
    const before = await stateOf(paused);
    const [found, due]: [string[], string[]] = [[], []];
    for (const route of all) {
      const rule = ruleOf(route.method, route.path) ?? 'open';
      for (const caller of ['public key', 'secret key', 'ADMIN'] as const) {
        if (rules[rule][caller] !== 'in' || ['open', 'person', 'personAlone', 'personOrKey'].includes(rule)) continue;
        const recovers = caller === 'ADMIN' && rule.startsWith('project') && !refusedWhenDisabled.has(nameOf(route));
        // Behind the door these do what they say; other tests show it.
        if (route.method !== 'GET' && recovers) continue;
        found.push(`${nameOf(route)} · ${caller}: ${verdictOf(await knock(route, caller, paused))}`);
        due.push(`${nameOf(route)} · ${caller}: ${route.method === 'GET' ? 'in' : '403 PROJECT_DISABLED'}`);
      }
    }
    expect(found).toEqual(due);
    expect(await stateOf(paused)).toBe(before);
  });
});

describe('keys with scopes', () => {
  const keys = new Map<Scope, string>();
  let scoped: TestProject;

  beforeAll(async () => {
    scoped = await staffed('Scoped');
    for (const scope of scopes) {
      const path = `/users/@me/projects/${scoped.id}/api-keys`;
      const made = await api.call(null, 'POST', path, { name: scope, scopes: [scope] }, people.ADMIN.session);
      keys.set(scope, made.body.key);
    }
  });

  /** What a key of one scope is to hear: open routes ask for no key, others for their scope, a few for a person. */
  function due(route: Route, scope: Scope): string {
    const rule = ruleOf(route.method, route.path) ?? 'open';
    if (rule === 'open') return 'in';
    if (rule === 'metricsToken') return '401 INVALID_API_KEY';
    if (rule === 'person') return '401 UNAUTHORIZED';
    const needed = scopeOf(route.method, route.path);
    if (needed === null) return '403 FORBIDDEN';
    return needed === scope || needed === 'any' ? 'in' : `403 SCOPE_MISSING ${needed}`;
  }

  test('open the routes of their scope and no other: every route with every scope', async () => {
    const [found, expected]: [string[], string[]] = [[], []];
    for (const route of all)
      for (const [scope, key] of keys) {
        const { status, body } = await knockWith(route, key, scoped);
        const { code, details } = body?.error ?? {};
        const isRefused = code === 'SCOPE_MISSING' || code === 'FORBIDDEN' || status === 401;
        const asked = code === 'SCOPE_MISSING' ? ` ${details.needed}` : '';
        if (asked !== '') expect(details.has).toEqual([scope]);
        const isOpen = ruleOf(route.method, route.path) === 'open';
        found.push(`${nameOf(route)} · ${scope}: ${isRefused && !isOpen ? `${status} ${code}${asked}` : 'in'}`);
        expected.push(`${nameOf(route)} · ${scope}: ${due(route, scope)}`);
      }
    expect(found).toEqual(expected);
  });

  test('do not name another project', async () => {
    const key = keys.get('emails:read') ?? '';
    const { status, body } = await api.call(key, 'GET', `/projects/${other.id}`);
    expect([status, body.error.code]).toEqual([403, 'PROJECT_ACCESS_DENIED']);
  });
});

describe('what belongs to another project', () => {
  let world: ForeignWorld;
  beforeAll(async () => {
    world = await foreignWorld(api, database);
  });

  const withIds = all.filter(
    ({ method, path, access }) =>
      access === 'dashboard' && idsOf(path).length > 0 && ruleOf(method, path) !== undefined,
  );

  function idsOf(path: string): string[] {
    return [...path.matchAll(/:(\w*id)\b/gi)].map(([, name = '']) => name);
  }

  // The interface says so: events of an unknown contact are none, and the other project's id is refused by name.
  const otherwise: Record<string, number> = {
    'GET /events/contact/:contactId': 200,
    'GET /domains/project/:projectId': 403,
    // For owners alone, whom these are not.
    'POST /erasures/:id/lift': 403,
  };

  test('is not there: a 404 for every route that names it, whoever asks, and nothing of it changes', async () => {
    const before = await stateOf(world.project);
    const [found, due]: [string[], string[]] = [[], []];
    for (const route of withIds) {
      const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) => world.idFor(route.path, name));
      const body = route.method === 'GET' ? undefined : (foreignBodies[nameOf(route)] ?? {});
      const asked = [
        await api.call(project.secretKey, route.method, path, body),
        await api.call(null, route.method, path, body, { ...people.ADMIN.session, 'X-Project-Id': project.id }),
      ];
      for (const [place, { status, body: told }] of asked.entries()) {
        expect(JSON.stringify(told)).not.toContain(world.contactEmail);
        found.push(`${nameOf(route)}: ${status}`);
        const isRefusedKey = place === 0 && route.refusesKeys === true;
        due.push(`${nameOf(route)}: ${otherwise[nameOf(route)] ?? (isRefusedKey ? 403 : 404)}`);
      }
    }
    expect(found).toEqual(due);
    expect(await stateOf(world.project)).toBe(before);
  });

  test('is there for its own key: the same requests find it', async () => {
    for (const route of withIds.filter(({ method }) => method === 'GET')) {
      const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) => world.idFor(route.path, name));
      const { status } = await api.call(world.project.secretKey, 'GET', path);
      expect(`${nameOf(route)}: ${status}`).toBe(`${nameOf(route)}: 200`);
    }
  });

  test('cannot be reached by a project id in the body or the query', async () => {
    const before = await stateOf(world.project);
    for (const [method, path] of [
      ['POST', '/contacts'],
      ['POST', '/templates'],
      ['POST', '/v1/track'],
      ['GET', `/contacts?projectId=${world.project.id}`],
    ] as const) {
      const key = path === '/v1/track' ? project.publicKey : project.secretKey;
      const body = {
        projectId: world.project.id,
        project: world.project.id,
        email: 'kai.holm@example.org',
        event: 'x',
      };
      const answer = await api.call(key, method, path, method === 'GET' ? undefined : body);
      expect(JSON.stringify(answer.body)).not.toContain(world.contactEmail);
    }
    expect(await stateOf(world.project)).toBe(before);
  });
});

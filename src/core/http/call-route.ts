import type { Admitted, App } from './context.ts';
import { runHandler } from './handler.ts';
import { Reply } from './route.ts';
import type { HttpParts } from './serve.ts';

/** What `App.callRoute` does: the checks of a request, with the work in the database of the caller. */
export function routeCaller(parts: Pick<HttpParts, 'routes' | 'authenticate' | 'limiter'>): App['callRoute'] {
  const byName = new Map(parts.routes.map((route) => [`${route.method} ${route.path}`, route]));
  return async ({ method, path, params = {}, query = {}, body = {} }, { app, db, requestId, ip, header, plan }) => {
    const route = byName.get(`${method} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`);
    if (route === undefined) throw new Error(`There is no route ${method} ${path}`);
    const admitted = await parts.authenticate(route, { method, params, header, findProject: async () => null });
    const cost = plan === 'tried' ? 1 : (route.rateCost?.(body) ?? 1);
    if (admitted.project !== null) await parts.limiter.take(admitted.project.id, cost, admitted.apart);
    const texts = Object.entries(query).map(([name, value]) => [name, String(value)]);
    // Inside a transaction the route works in it.
    const own =
      route.heavy && admitted.project !== null && !db.isTransaction
        ? app.heavyReads.of(admitted.project.id, db.author)
        : db;
    const answer = await runHandler(
      route,
      { value: body },
      {
        ...admitted,
        actor: plan === undefined ? admitted.actor : planned(admitted.actor),
        app,
        db: own,
        writeOnce: (work) => work(own),
        keepAnswer: async () => undefined,
        params,
        ip,
        query: Object.fromEntries(texts),
        requestId,
        log: app.log,
        header,
      },
    );
    return answer instanceof Reply ? answer.body : answer;
  };
}

// What the setting `mcp` of its key asks for was checked with the plan itself.
function planned(actor: Admitted['actor']): Admitted['actor'] {
  return actor?.kind === 'key' && actor.scoped !== null ? { ...actor, scoped: { ...actor.scoped, mcp: null } } : actor;
}

import { operationId } from '@fernpost/openapi';
import type { Route } from './route.ts';

type Named = Pick<Route, 'method' | 'path' | 'operationId'>;

/**
 * Answers the names of routes in generated clients. Of a path that is also there below `/v1`, for callers with a key, the one for
 * the dashboard ends in `InDashboard`.
 */
export function operationIds(routes: readonly Named[]): (route: Named) => string {
  const underV1 = new Set(routes.filter(({ path }) => path.startsWith('/v1/')).map(placeOf));
  return (route) => {
    const { method, path } = route;
    const isTwin = !path.startsWith('/v1/') && underV1.has(placeOf({ method, path: `/v1${path}` }));
    const id = route.operationId ?? operationId(method, path.replace(/^\/(v1|users\/@me)(?=\/)/, ''));
    return isTwin ? `${id}InDashboard` : id;
  };
}

function placeOf({ method, path }: Pick<Named, 'method' | 'path'>): string {
  return `${method} ${path}`;
}

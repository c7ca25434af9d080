import type { Route } from './route.ts';

type Operation = Pick<Route, 'method' | 'path' | 'operationId'>;

/**
 * The names of the routes in generated clients: `listContacts`, `getContact`, `createContact`, `updateContact`,
 * `deleteContact`, `pauseCampaign`, `listCampaignRecipients`. Of a path that is also there below `/v1`, for callers with a
 * key, the one for the dashboard ends in `InDashboard`.
 */
export function operationIds(routes: readonly Operation[]): Map<Operation, string> {
  const underV1 = new Set(routes.filter(({ path }) => path.startsWith('/v1/')).map(placeOf));
  return new Map(
    routes.map((route) => {
      const isTwin = !route.path.startsWith('/v1/') && underV1.has(placeOf({ ...route, path: `/v1${route.path}` }));
      return [route, `${route.operationId ?? operationIdOf(route)}${isTwin ? 'InDashboard' : ''}`];
    }),
  );
}

function placeOf({ method, path }: Operation): string {
  return `${method} ${path}`;
}

const verbs = { GET: 'get', POST: 'create', PUT: 'update', PATCH: 'update', DELETE: 'delete' } as const;

function operationIdOf({ method, path }: Operation): string {
  const segments = path
    .replace(/^\/(v1|users\/@me)(?=\/)/, '')
    .split('/')
    .slice(1);
  const last = segments.at(-1) ?? '';
  const isParameter = (segment: string) => segment.startsWith(':');
  const fixed = segments.filter((segment) => !isParameter(segment));
  // What stands before a parameter is one of several: `/contacts/:id` is a contact.
  const owners = fixed.slice(0, -1).map((segment) => words(singular(segment)));
  const noun = fixed.at(-1) ?? '';
  if (isParameter(last)) return camelCase(verbs[method], ...owners, words(singular(noun)));
  if (method === 'GET' && isPlural(noun)) return camelCase('list', ...owners, words(noun));
  if (method !== 'POST') return camelCase(verbs[method], ...owners, words(noun));
  if (isPlural(noun)) return camelCase('create', ...owners, words(singular(noun)));
  // `POST /campaigns/:id/send` is a verb, and so is the first word of `rotate-secret`.
  const [verb = '', ...rest] = noun.split('-');
  return camelCase(verb, ...owners, rest.join('-'));
}

function isPlural(noun: string): boolean {
  return /[^s]s$/.test(noun) && !/(?:status|stats|limits|sns|series|^analytics)$/.test(noun);
}

function singular(noun: string): string {
  if (!isPlural(noun)) return noun;
  return noun.endsWith('ies') ? `${noun.slice(0, -3)}y` : noun.slice(0, -1);
}

function words(text: string): string {
  return text.replaceAll(/\W+/g, '-');
}

function camelCase(...parts: string[]): string {
  return parts
    .flatMap((part) => part.split('-'))
    .filter(Boolean)
    .map((word, index) => (index === 0 ? word : `${word.charAt(0).toUpperCase()}${word.slice(1)}`))
    .join('');
}

import type { Config } from '../config/config.ts';

const loopbackHosts = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Origins of the deployment's own pages and of those that `CORS_EXTRA_ORIGINS` adds: they may call the API with a session. A service on
 * this machine has all its names for it, since people type either.
 */
export function trustedOrigins(config: Config): ReadonlySet<string> {
  const { API_URI, DASHBOARD_URI, PUBLIC_URL, LANDING_URI, WIKI_URI, CORS_EXTRA_ORIGINS } = config;
  const own = [API_URI, DASHBOARD_URI, PUBLIC_URL, LANDING_URI, WIKI_URI].filter((url) => url !== null);
  return new Set([...own, ...CORS_EXTRA_ORIGINS].flatMap(originsOf));
}

function originsOf(url: string): string[] {
  const parsed = URL.parse(url);
  if (parsed === null) return [url];
  if (!loopbackHosts.includes(parsed.hostname)) return [parsed.origin];
  return loopbackHosts.map((host) => `${parsed.protocol}//${host}${parsed.port === '' ? '' : `:${parsed.port}`}`);
}

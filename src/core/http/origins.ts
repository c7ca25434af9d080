import type { Config } from '../config/config.ts';

/** Origins of the deployment's own pages and of those that `CORS_EXTRA_ORIGINS` adds: they may call the API with a session. */
export function trustedOrigins(config: Config): ReadonlySet<string> {
  const { API_URI, DASHBOARD_URI, PUBLIC_URL, LANDING_URI, WIKI_URI, CORS_EXTRA_ORIGINS } = config;
  const own = [API_URI, DASHBOARD_URI, PUBLIC_URL, LANDING_URI, WIKI_URI].filter((url) => url !== null);
  return new Set([...own, ...CORS_EXTRA_ORIGINS].map(originOf));
}

function originOf(url: string): string {
  return URL.parse(url)?.origin ?? url;
}

import * as v from 'valibot';
import type { Config } from '../../core/config/config.ts';
import { reply, route } from '../../core/http/route.ts';

const Enabled = v.object({ enabled: v.boolean() });
const Url = v.nullable(v.string());

/** What a dashboard must know of the deployment (contract page 3, 7). */
const PublicConfig = v.object({
  environment: v.string(),
  urls: v.object({ api: v.string(), dashboard: v.string(), landing: v.string(), wiki: Url }),
  features: v.object({
    billing: Enabled,
    storage: v.object({ s3Enabled: v.boolean(), uploadsEnabled: v.boolean(), driver: v.picklist(['local', 's3']) }),
    authProviders: v.object({ github: v.boolean(), google: v.boolean() }),
    signup: v.object({ signupsDisabled: v.boolean() }),
    email: v.object({ trackingToggleEnabled: v.boolean(), provider: v.string() }),
    sponsor: Enabled,
    smtp: v.object({
      enabled: v.boolean(),
      domain: v.nullable(v.string()),
      ports: v.pipe(
        v.nullable(v.object({ secure: v.nullable(v.number()), submission: v.nullable(v.number()) })),
        v.description('With TLS from the first byte, and with STARTTLS; null for one that is off.'),
      ),
    }),
  }),
  aws: v.object({ sesRegion: v.nullable(v.string()), mailFromSubdomain: v.string() }),
});

/** `GET /config`: no secrets, no versions. */
export const configRoutes = [
  route.get('/config', {
    access: 'none',
    summary: 'What this deployment offers',
    tag: 'service',
    reply: PublicConfig,
    handle: ({ app }) => reply(200, publicConfig(app.config), { 'Cache-Control': 'public, max-age=60' }),
  }),
];

function publicConfig(config: Config): v.InferOutput<typeof PublicConfig> {
  return {
    environment: config.NODE_ENV,
    urls: {
      api: config.API_URI,
      dashboard: config.DASHBOARD_URI,
      landing: config.LANDING_URI ?? config.DASHBOARD_URI,
      wiki: config.WIKI_URI,
    },
    features: {
      billing: { enabled: config.billingEnabled },
      storage: { s3Enabled: config.storageDriver === 's3', uploadsEnabled: true, driver: config.storageDriver },
      authProviders: {
        github: config.GITHUB_OAUTH_CLIENT !== null,
        google: config.GOOGLE_OAUTH_CLIENT !== null,
      },
      signup: { signupsDisabled: config.DISABLE_SIGNUPS },
      email: { trackingToggleEnabled: config.mailProvider !== 'smtp', provider: config.mailProvider },
      sponsor: { enabled: false },
      smtp: smtpOf(config),
    },
    aws: { sesRegion: config.AWS_SES_REGION, mailFromSubdomain: config.MAIL_FROM_SUBDOMAIN },
  };
}

function smtpOf(config: Config): v.InferOutput<typeof PublicConfig>['features']['smtp'] {
  const ports = { secure: config.SMTP_IN_TLS_PORT, submission: config.SMTP_IN_PORT };
  if (ports.secure === null && ports.submission === null) return { enabled: false, domain: null, ports: null };
  return { enabled: true, domain: new URL(config.API_URI).hostname, ports };
}

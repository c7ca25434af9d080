import { join } from 'node:path';
import * as v from 'valibot';
import { reply, route } from '../../http/route.ts';
import type { Config } from '../../lib/config/config.ts';
import { field, Integer } from '../../lib/validation/fields.ts';
import { type ImageStore, localStore } from '../../templates/images/store.ts';

const Enabled = v.object({ enabled: field('Whether the feature is available.', v.boolean()) });
const Url = v.nullable(v.string());

/** The facts about the deployment that a dashboard needs (docs/contract/platform.md#7). */
const PublicConfig = v.object({
  environment: field('`production` or `development`.', v.string()),
  urls: field(
    'Base URLs of the deployment.',
    v.object({
      api: field('Base URL of the API.', v.string()),
      dashboard: field('Base URL of the dashboard.', v.string()),
      landing: field('URL of the website.', v.string()),
      wiki: field('URL of the documentation; null without one.', Url),
    }),
  ),
  features: field(
    'Features of the deployment.',
    v.object({
      billing: field('Billing of projects.', Enabled),
      storage: field(
        'Storage of uploaded images.',
        v.object({
          s3Enabled: field('Whether images are stored in an S3 bucket.', v.boolean()),
          uploadsEnabled: field('Whether images can be uploaded.', v.boolean()),
          driver: field('Where images are stored: `local` disk or `s3`.', v.picklist(['local', 's3'])),
        }),
      ),
      authProviders: field(
        'Sign-in providers besides passwords.',
        v.object({
          github: field('Whether users can sign in with GitHub.', v.boolean()),
          google: field('Whether users can sign in with Google.', v.boolean()),
        }),
      ),
      signup: field(
        'Creation of accounts.',
        v.object({ signupsDisabled: field('Whether new accounts can be created by invitation only.', v.boolean()) }),
      ),
      email: field(
        'Sending of email.',
        v.object({
          trackingToggleEnabled: field('Whether tracking of opens and clicks can be turned off.', v.boolean()),
          provider: field('Mail provider of the deployment.', v.string()),
        }),
      ),
      sponsor: field('Sponsoring, which this deployment does not have.', Enabled),
      smtp: field(
        'Submission of mail by SMTP.',
        v.object({
          enabled: field('Whether the service accepts mail by SMTP.', v.boolean()),
          domain: field('Host name of the SMTP server; null when SMTP is off.', v.nullable(v.string())),
          ports: field(
            'With TLS from the first byte, and with STARTTLS; null for one that is off.',
            v.nullable(
              v.object({
                secure: field('Port with implicit TLS; null when it is off.', v.nullable(Integer)),
                submission: field('Port with STARTTLS; null when it is off.', v.nullable(Integer)),
              }),
            ),
          ),
        }),
      ),
    }),
  ),
  aws: field(
    'Settings of Amazon SES.',
    v.object({
      sesRegion: field('AWS region; null without Amazon SES.', v.nullable(v.string())),
      mailFromSubdomain: field('Subdomain of the return path of sender domains.', v.string()),
    }),
  ),
});

/** `GET /config`: no secrets, no versions. */
export const configRoutes = [
  route.get('/config', {
    access: 'none',
    summary: 'What this deployment offers',
    tag: 'service',
    returns: 'The URLs, features and settings that a client of this deployment needs. It contains no secrets.',
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

/** The place for uploaded images that the settings choose. */
export async function createImageStore(config: Config): Promise<ImageStore> {
  const { S3_ACCESS_KEY_ID: accessKeyId, S3_ACCESS_KEY_SECRET: secretAccessKey, S3_PUBLIC_URL: publicUrl } = config;
  if (config.storageDriver === 'local')
    return localStore(config.UPLOAD_DIR ?? join(config.DATA_DIR, 'uploads'), config.API_URI);
  // Amazon's SDK is loaded only where it is used.
  const { s3Store } = await import('../../templates/images/s3-store.ts');
  return s3Store({
    endpoint: config.S3_ENDPOINT,
    region: config.S3_REGION,
    accessKeyId: accessKeyId ?? '',
    secretAccessKey: secretAccessKey ?? '',
    bucket: config.S3_BUCKET,
    publicUrl: publicUrl ?? '',
    forcePathStyle: config.S3_FORCE_PATH_STYLE,
  });
}

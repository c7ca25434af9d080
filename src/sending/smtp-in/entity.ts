import { defineEntity } from '@mikro-orm/core';
import { Project } from '../../platform/projects/index.ts';

const p = defineEntity.properties;

/**
 * A program that sends by SMTP: a credential at an address. `credential` is `secret` for the secret key, the ID of a key with scopes,
 * or `unknown` for a sign-in as the project with a key that is none. `refusal` is the last reply that refused, without addresses of mail.
 */
export const SmtpClient = defineEntity({
  name: 'SmtpClient',
  tableName: 'smtp_clients',
  properties: {
    projectId: p.manyToOne(Project).mapToPk().deleteRule('cascade').primary().updateRule('no action'),
    credential: p.text().primary(),
    ip: p.text().primary(),
    lastAt: p.datetime(3).defaultRaw('now()'),
    acceptedAt: p.datetime(3).nullable(),
    refusedAt: p.datetime(3).nullable(),
    refusal: p.text().nullable(),
  },
});

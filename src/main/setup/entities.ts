import { EntitySchema } from '@mikro-orm/core';
import * as contacts from '../../audience/contacts/entity.ts';
import * as erased from '../../audience/erased/entity.ts';
import * as events from '../../audience/events/entity.ts';
import * as jobs from '../../audience/jobs/entity.ts';
import * as lists from '../../audience/lists/entity.ts';
import * as segments from '../../audience/segments/entity.ts';
import * as suppressions from '../../audience/suppressions/entity.ts';
import * as automations from '../../automations/entity.ts';
import * as migrating from '../../automations/migrating/entity.ts';
import * as runtime from '../../automations/runtime/entity.ts';
import * as blocks from '../../content/blocks/entity.ts';
import * as brand from '../../content/brand/entity.ts';
import * as templates from '../../content/templates/entity.ts';
import * as uploads from '../../content/uploads/entity.ts';
import * as functions from '../../core/database/entity.ts';
import * as outbox from '../../core/outbox/entity.ts';
import * as erasures from '../../insight/erasures/entity.ts';
import * as mcp from '../../insight/mcp/entity.ts';
import * as webhooks from '../../insight/webhooks/entity.ts';
import * as access from '../../platform/access/entity.ts';
import * as accounts from '../../platform/accounts/entity.ts';
import * as audit from '../../platform/audit/entity.ts';
import * as billing from '../../platform/billing/entity.ts';
import * as domains from '../../platform/domains/entity.ts';
import * as invitations from '../../platform/invitations/entity.ts';
import * as projects from '../../platform/projects/entity.ts';
import * as systemMail from '../../platform/system-mail/entity.ts';
import * as wipes from '../../platform/wipes/entity.ts';
import * as canary from '../../sending/campaigns/canary/entity.ts';
import * as campaigns from '../../sending/campaigns/entity.ts';
import * as reviews from '../../sending/campaigns/review/entity.ts';
import * as engine from '../../sending/engine/entity.ts';
import * as ledger from '../../sending/ledger/entity.ts';
import * as providers from '../../sending/providers/entity.ts';
import * as recipients from '../../sending/recipients/entity.ts';
import * as smtpIn from '../../sending/smtp-in/entity.ts';

const core = [functions, outbox];
const platform = [accounts, projects, invitations, access, audit, billing, domains, systemMail, wipes];
const audience = [contacts, erased, events, segments, suppressions, jobs, lists];
const content = [uploads, brand, blocks, templates];
const sending = [providers, ledger, engine, campaigns, canary, reviews, recipients, smtpIn];

/**
 * Every table of the service, described: keys, indexes, checks and relations too. Relations are `mapToPk`: a row carries the id of the
 * other, and nothing is loaded for it. Tables that are only appended to have no key in the database; the columns that the ORM is
 * told instead identify nothing, and such rows are never written through it.
 */
export const entities = [
  core,
  platform,
  audience,
  content,
  sending,
  automations,
  migrating,
  runtime,
  webhooks,
  mcp,
  erasures,
]
  .flat()
  .flatMap((exported) => Object.values(exported).filter((value) => value instanceof EntitySchema));

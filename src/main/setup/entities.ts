import { EntitySchema } from '@mikro-orm/core';
import * as contacts from '../../audience/contacts/entity.ts';
import * as segments from '../../audience/segments/entity.ts';
import * as suppressions from '../../audience/suppressions/entity.ts';
import * as automations from '../../automations/entity.ts';
import * as templates from '../../content/templates/entity.ts';
import * as uploads from '../../content/uploads/entity.ts';
import * as erasures from '../../insight/erasures/entity.ts';
import * as accounts from '../../platform/accounts/entity.ts';
import * as domains from '../../platform/domains/entity.ts';
import * as invitations from '../../platform/invitations/entity.ts';
import * as projects from '../../platform/projects/entity.ts';
import * as wipes from '../../platform/wipes/entity.ts';
import * as campaigns from '../../sending/campaigns/entity.ts';

const platform = [accounts, projects, invitations, domains, wipes];
const audience = [contacts, segments, suppressions];
const content = [uploads, templates];

/**
 * The tables that code reads or writes by the entity manager. Relations are `mapToPk`: a row carries the ID of the other, and nothing
 * is loaded for it. `migrations/schema.sql` describes all tables.
 */
export const entities = [platform, audience, content, campaigns, automations, erasures]
  .flat()
  .flatMap((exported) => Object.values(exported).filter((value) => value instanceof EntitySchema));

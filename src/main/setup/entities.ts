import { EntitySchema } from '@mikro-orm/core';
import * as accounts from '../../accounts/entity.ts';
import * as automations from '../../automations/entity.ts';
import * as campaigns from '../../campaigns/entity.ts';
import * as contacts from '../../contacts/entity.ts';
import * as suppressions from '../../contacts/suppressions/entity.ts';
import * as domains from '../../domains/entity.ts';
import * as erasures from '../../insight/erasures/entity.ts';
import * as wipes from '../../insight/wipes/queries.ts';
import * as projects from '../../projects/entity.ts';
import * as invitations from '../../projects/invitations/service.ts';
import * as segments from '../../segments/entity.ts';
import * as templates from '../../templates/entity.ts';
import * as uploads from '../../templates/uploads/service.ts';

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

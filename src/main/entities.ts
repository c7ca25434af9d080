import type { EntityName } from '@mikro-orm/core';
import { Segment } from '../audience/segments/entity.ts';
import { Template } from '../content/templates/entity.ts';
import { User } from '../platform/accounts/entity.ts';
import { Domain } from '../platform/domains/entity.ts';
import { Membership, Project } from '../platform/projects/entity.ts';
import { Campaign } from '../sending/campaigns/entity.ts';

/** Every entity the ORM knows. */
export const entities: EntityName[] = [User, Project, Membership, Domain, Template, Campaign, Segment];

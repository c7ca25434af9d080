import type { EntityName } from '@mikro-orm/core';
import { User } from '../accounts/entity.ts';
import { Campaign } from '../campaigns/entity.ts';
import { Domain } from '../domains/entity.ts';
import { Membership, Project } from '../projects/entity.ts';
import { Segment } from '../segments/entity.ts';
import { Template } from '../templates/entity.ts';

/** Every entity the ORM knows. */
export const entities: EntityName[] = [User, Project, Membership, Domain, Template, Campaign, Segment];

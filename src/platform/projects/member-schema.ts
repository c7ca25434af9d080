import { field, nameSchemas } from '@fernpost/openapi/names';
import { EmailField, Instant } from '@fernpost/validation';
import * as v from 'valibot';
import { roles } from '../../core/lib/roles.ts';

const GivenRole = v.picklist(['ADMIN', 'MEMBER'], 'must be ADMIN or MEMBER');

/** `POST /projects/{id}/members`. */
export const AddMember = v.object({
  email: field("Email address of the user's account.", EmailField),
  role: field('Role in the project.', v.optional(GivenRole, 'MEMBER')),
});
export type AddMember = v.InferOutput<typeof AddMember>;
/** `PATCH /projects/{id}/members/{userId}`. */
export const ChangeMember = v.object({ role: field('New role in the project.', GivenRole) });
export type ChangeMember = v.InferOutput<typeof ChangeMember>;

/** Somebody in a project, after a change. */
export const Member = v.object({
  userId: field('ID of the user.', v.string()),
  email: field('Email address of the user.', v.string()),
  role: field('Role in the project.', v.picklist(roles)),
});
export type Member = v.InferOutput<typeof Member>;
/** Somebody in the list of a project's members. */
export const ListedMember = v.object({
  ...Member.entries,
  createdAt: field('Time at which the user joined the project.', Instant),
});
export type ListedMember = v.InferOutput<typeof ListedMember>;

nameSchemas({ Member, ListedMember });

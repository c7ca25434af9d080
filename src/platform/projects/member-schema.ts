import { nameSchemas } from '@fernpost/openapi/names';
import { EmailField, Instant } from '@fernpost/validation';
import * as v from 'valibot';
import { roles } from '../../core/lib/roles.ts';

const GivenRole = v.picklist(['ADMIN', 'MEMBER'], 'must be ADMIN or MEMBER');

/** `POST /projects/{id}/members`. */
export const AddMember = v.object({ email: EmailField, role: v.optional(GivenRole, 'MEMBER') });
export type AddMember = v.InferOutput<typeof AddMember>;
/** `PATCH /projects/{id}/members/{userId}`. */
export const ChangeMember = v.object({ role: GivenRole });
export type ChangeMember = v.InferOutput<typeof ChangeMember>;

/** Somebody in a project, after a change. */
export const Member = v.object({ userId: v.string(), email: v.string(), role: v.picklist(roles) });
export type Member = v.InferOutput<typeof Member>;
/** Somebody in the list of a project's members. */
export const ListedMember = v.object({ ...Member.entries, createdAt: Instant });
export type ListedMember = v.InferOutput<typeof ListedMember>;

nameSchemas({ Member, ListedMember });

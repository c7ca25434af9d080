import { describedBy, nameSchemas } from '@fernpost/openapi/names';
import { choice, Instant, pageParameters, textField, Uuid } from '@fernpost/validation';
import * as v from 'valibot';
import { PageFigures } from '../../core/lib/offset-page.ts';
import { ConditionShape } from '../conditions/index.ts';
import { ContactBody } from '../contacts/index.ts';

/** The types of segments: members found by a condition, or added by requests. */
export const segmentTypes = ['DYNAMIC', 'STATIC'] as const;
/** The kind of a segment. */
export type SegmentType = (typeof segmentTypes)[number];

const Name = textField('name', 1, 100);
const Description = v.nullish(textField('description', 0, 500));

/** A segment in an answer. */
export const SegmentBody = v.object({
  id: Uuid,
  name: v.string(),
  description: v.nullable(v.string()),
  type: v.picklist(segmentTypes),
  condition: v.nullable(describedBy(v.record(v.string(), v.unknown()), ConditionShape)),
  trackMembership: v.boolean(),
  memberCount: v.number(),
  /** Counts every edit; the `ETag`, without its quotes. */
  revision: v.number(),
  projectId: Uuid,
  createdAt: Instant,
  updatedAt: Instant,
});
export type SegmentBody = v.InferOutput<typeof SegmentBody>;

/** `POST /segments`. The condition is checked by its own grammar (contract page 1, 4.3). */
export const CreateSegment = v.object({
  name: Name,
  description: Description,
  type: v.optional(choice(segmentTypes), 'DYNAMIC'),
  condition: v.nullish(describedBy(v.unknown(), ConditionShape)),
  trackMembership: v.optional(v.boolean(), false),
});
export type CreateSegment = v.InferOutput<typeof CreateSegment>;

/** `PATCH /segments/{id}`: any part of a segment but its type. */
export const PatchSegment = v.object({
  name: v.optional(Name),
  description: Description,
  condition: v.nullish(describedBy(v.unknown(), ConditionShape)),
  trackMembership: v.optional(v.boolean()),
});
export type PatchSegment = v.InferOutput<typeof PatchSegment>;

/** `POST /segments/preview`. */
export const PreviewSegment = v.object({
  condition: v.nullish(describedBy(v.unknown(), ConditionShape)),
  limit: v.pipe(
    v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(10)), 10),
    v.description('How many of the newest contacts to return; 0 to count only.'),
  ),
});
export type PreviewSegment = v.InferOutput<typeof PreviewSegment>;

/** How many contacts a condition matches, and at most ten of them. */
export const SegmentPreview = v.object({ total: v.number(), contacts: v.array(ContactBody) });

/** `GET /segments/{id}/contacts`. */
export const ListMembers = v.object(pageParameters(100));
export type ListMembers = v.InferOutput<typeof ListMembers>;

/** A page of a segment's contacts. */
export const MembersPage = v.object({
  data: v.array(ContactBody),
  ...PageFigures.entries,
});

/** The segments that a contact is in now. */
export const ContactSegments = v.object({
  data: v.array(
    v.object({
      id: Uuid,
      name: v.string(),
      type: v.picklist(segmentTypes),
      enteredAt: v.pipe(
        v.nullable(Instant),
        v.description('When it entered; null where the segment keeps no memberships.'),
      ),
    }),
  ),
});
export type ContactSegments = v.InferOutput<typeof ContactSegments>;

const Emails = v.pipe(v.array(v.string()), v.minLength(1, 'must name at least one address'));

/** `POST /segments/{id}/members`. */
export const AddMembers = v.object({
  emails: Emails,
  createMissing: v.optional(v.boolean(), false),
  subscribed: v.optional(v.boolean(), true),
});
export type AddMembers = v.InferOutput<typeof AddMembers>;

/** `DELETE /segments/{id}/members`. */
export const RemoveMembers = v.object({ emails: Emails });
export type RemoveMembers = v.InferOutput<typeof RemoveMembers>;

/** What adding members did. */
export const AddedMembers = v.object({ added: v.number(), created: v.number(), notFound: v.array(v.string()) });
/** What removing members did. */
export const RemovedMembers = v.object({ removed: v.number() });
/** What a compute did. */
export const ComputedMembers = v.object({ added: v.number(), removed: v.number(), total: v.number() });
export type ComputedMembers = v.InferOutput<typeof ComputedMembers>;
/** What a refresh found. */
export const RefreshedCount = v.object({ memberCount: v.number() });

nameSchemas({ Segment: SegmentBody });

import * as v from 'valibot';
import { ConditionShape } from '../contacts/conditions.ts';
import { ContactBody } from '../contacts/schema.ts';
import { PageFigures } from '../lib/pages.ts';
import {
  choice,
  describedBy,
  field,
  Instant,
  Integer,
  nameSchemas,
  pageParameters,
  textField,
  Uuid,
} from '../lib/validation/fields.ts';

/** The types of segments: members found by a condition, or added by requests. */
export const segmentTypes = ['DYNAMIC', 'STATIC'] as const;
/** The kind of a segment. */
export type SegmentType = (typeof segmentTypes)[number];

const Name = textField('name', 1, 100);
const Description = v.nullish(textField('description', 0, 500));

/** A segment in an answer. */
export const SegmentBody = v.object({
  id: field('ID of the segment.', Uuid),
  name: field('Name of the segment.', v.string()),
  description: field('Description of the segment; null without one.', v.nullable(v.string())),
  type: field(
    '`DYNAMIC`: contacts that match the condition. `STATIC`: contacts that were added by hand.',
    v.picklist(segmentTypes),
  ),
  condition: field(
    'Condition of a dynamic segment; null for a static segment.',
    v.nullable(describedBy(v.record(v.string(), v.unknown()), ConditionShape)),
  ),
  trackMembership: field('Whether members are stored, with an event for each entry and exit.', v.boolean()),
  memberCount: field('Number of members at the last count.', Integer),
  revision: field('Number of the revision, which every edit increases; the `ETag` without its quotes.', Integer),
  projectId: field('ID of the project.', Uuid),
  createdAt: field('Time at which the segment was created.', Instant),
  updatedAt: field('Time of the last change of the segment.', Instant),
});
export type SegmentBody = v.InferOutput<typeof SegmentBody>;

/** `POST /segments`. The condition is checked by its own grammar (docs/contract/core.md#4-3). */
export const CreateSegment = v.object({
  name: field('Name of the segment, 1 to 100 characters.', Name),
  description: field('Description of the segment, up to 500 characters.', Description),
  type: field(
    '`DYNAMIC`: contacts that match `condition`. `STATIC`: contacts that you add.',
    v.optional(choice(segmentTypes), 'DYNAMIC'),
  ),
  condition: field(
    'Condition of a dynamic segment, which requires one.',
    v.nullish(describedBy(v.unknown(), ConditionShape)),
  ),
  trackMembership: field(
    'Whether members are stored, with an event for each entry and exit.',
    v.optional(v.boolean(), false),
  ),
});
export type CreateSegment = v.InferOutput<typeof CreateSegment>;

/** `PATCH /segments/{id}`: any part of a segment but its type. */
export const PatchSegment = v.object({
  name: field('New name, 1 to 100 characters.', v.optional(Name)),
  description: field('New description, up to 500 characters; null removes it.', Description),
  condition: field('New condition of a dynamic segment.', v.nullish(describedBy(v.unknown(), ConditionShape))),
  trackMembership: field('Whether members are stored, with an event for each entry and exit.', v.optional(v.boolean())),
});
export type PatchSegment = v.InferOutput<typeof PatchSegment>;

/** `POST /segments/preview`. */
export const PreviewSegment = v.object({
  condition: field('Condition to preview.', v.nullish(describedBy(v.unknown(), ConditionShape))),
  limit: field(
    'How many of the newest contacts to return; 0 to count only.',
    v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(10)), 10),
  ),
});
export type PreviewSegment = v.InferOutput<typeof PreviewSegment>;

/** How many contacts a condition matches, and at most ten of them. */
export const SegmentPreview = v.object({
  total: field('Number of contacts that match.', Integer),
  contacts: field('The newest contacts that match, at most `limit`.', v.array(ContactBody)),
});

/** `GET /segments/{id}/contacts`. */
export const ListMembers = v.object(pageParameters(100));
export type ListMembers = v.InferOutput<typeof ListMembers>;

/** A page of a segment's contacts. */
export const MembersPage = v.object({
  data: field('Members of this page.', v.array(ContactBody)),
  ...PageFigures.entries,
});

/** The segments that a contact is in now. */
export const ContactSegments = v.object({
  data: field(
    'Segments that the contact is in now.',
    v.array(
      v.object({
        id: field('ID of the segment.', Uuid),
        name: field('Name of the segment.', v.string()),
        type: field('Type of the segment.', v.picklist(segmentTypes)),
        enteredAt: field('When it entered; null where the segment keeps no memberships.', v.nullable(Instant)),
      }),
    ),
  ),
});
export type ContactSegments = v.InferOutput<typeof ContactSegments>;

const Emails = v.pipe(v.array(v.string()), v.minLength(1, 'must name at least one address'));

/** `POST /segments/{id}/members`. */
export const AddMembers = v.object({
  emails: field('Email addresses of the contacts to add.', Emails),
  createMissing: field('Whether addresses that belong to no contact become contacts.', v.optional(v.boolean(), false)),
  subscribed: field(
    'Whether contacts that are created are subscribed to marketing mail.',
    v.optional(v.boolean(), true),
  ),
});
export type AddMembers = v.InferOutput<typeof AddMembers>;

/** `DELETE /segments/{id}/members`. */
export const RemoveMembers = v.object({ emails: field('Email addresses of the contacts to remove.', Emails) });
export type RemoveMembers = v.InferOutput<typeof RemoveMembers>;

/** `POST /segments/{segmentId}/members`: how many contacts were added and created. */
export const AddedMembers = v.object({
  added: field('Number of contacts that were added to the segment.', Integer),
  created: field('Number of contacts that were created.', Integer),
  notFound: field('Addresses that belong to no contact.', v.array(v.string())),
});
export const RemovedMembers = v.object({
  removed: field('Number of contacts that were removed from the segment.', Integer),
});
/** The changes of membership that a compute made. */
export const ComputedMembers = v.object({
  added: field('Number of contacts that entered the segment.', Integer),
  removed: field('Number of contacts that left the segment.', Integer),
  total: field('Number of members afterwards.', Integer),
});
export type ComputedMembers = v.InferOutput<typeof ComputedMembers>;
export const RefreshedCount = v.object({ memberCount: field('Number of members now.', Integer) });

nameSchemas({ Segment: SegmentBody });

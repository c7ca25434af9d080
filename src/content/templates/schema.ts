import { nameSchemas } from '@fernpost/openapi/names';
import {
  choice,
  choiceParameter,
  directionParameter,
  EmailField,
  GivenUuid,
  Instant,
  JsonObject,
  pageParameters,
  parameter,
  SenderField,
  singleLine,
  textField,
  Uuid,
  withBareSender,
} from '@fernpost/validation';
import * as v from 'valibot';
import { PageFigures } from '../../core/lib/offset-page.ts';
import { DocumentBody, DocumentSource, needsContent } from './source.ts';

/** The kinds of templates, campaigns and messages (contract page 2, 1.2). */
export const templateTypes = ['TRANSACTIONAL', 'MARKETING', 'HEADLESS'] as const;

/** The kind of a template or campaign. */
export const TypeField = choice(templateTypes);
/** Liquid source of a subject; it may have several lines, of which the rendered subject makes one. */
export const SubjectSource = textField('subject', 1, 998);
/** Liquid source of an HTML body. */
export const BodySource = textField('body', 1, 2_000_000);
/** Display name of a sender. */
const SenderName = v.nullish(v.pipe(textField('fromName', 0, 100), singleLine('fromName')));
/** Reply-To address. */
const ReplyTo = v.nullish(EmailField);

/** What templates and campaigns are made of, in an answer. */
export const contentEntries = {
  name: v.string(),
  description: v.nullable(v.string()),
  subject: v.string(),
  body: v.string(),
  /** The blocks that `body` is compiled from; null for content written as HTML. */
  document: DocumentBody,
  from: v.string(),
  fromName: v.nullable(v.string()),
  replyTo: v.nullable(v.string()),
  type: TypeField,
};

/** The same in a request, without name and type. */
export const givenContentEntries = {
  description: v.nullish(textField('description', 0, 2000)),
  subject: SubjectSource,
  body: v.optional(BodySource),
  document: DocumentSource,
  from: SenderField,
  fromName: SenderName,
  replyTo: ReplyTo,
};

/** A template in an answer. */
export const TemplateBody = v.object({
  id: Uuid,
  ...contentEntries,
  /** Counts every edit; the `ETag`, without its quotes. */
  revision: v.number(),
  projectId: Uuid,
  createdAt: Instant,
  updatedAt: Instant,
});
export type TemplateBody = v.InferOutput<typeof TemplateBody>;

const parts = { name: textField('name', 1, 255), ...givenContentEntries };

/** `POST /templates`. */
export const CreateTemplate = v.pipe(
  v.object({ ...parts, type: v.optional(TypeField, 'MARKETING') }),
  needsContent(),
  v.transform(withBareSender),
);
export type CreateTemplate = v.InferOutput<typeof CreateTemplate>;

/** `PATCH /templates/{id}`: any part of a template. */
export const PatchTemplate = v.pipe(v.partial(v.object({ ...parts, type: TypeField })), v.transform(withBareSender));
export type PatchTemplate = v.InferOutput<typeof PatchTemplate>;

/** `POST /templates/preview`: content, and what it is filled in with: a contact, values as `/v1/send` takes them, or both. */
export const PreviewTemplate = v.object({
  subject: SubjectSource,
  body: BodySource,
  type: v.optional(TypeField, 'MARKETING'),
  contactId: v.nullish(Uuid),
  data: v.nullish(JsonObject),
});
export type PreviewTemplate = v.InferOutput<typeof PreviewTemplate>;
/** What a recipient would see. */
export const PreviewBody = v.object({ subject: v.string(), html: v.string(), text: v.nullable(v.string()) });
export type PreviewBody = v.InferOutput<typeof PreviewBody>;

/** What templates are listed by. */
export const templateSorts = ['name', 'subject', 'type', 'createdAt', 'updatedAt'] as const;

/** `GET /templates`; an unknown sort or direction falls back to the default. */
export const ListTemplates = v.object({
  ...pageParameters(100),
  type: choiceParameter('All when absent.', templateTypes),
  search: parameter('Text in name, description or subject, in any letter case.'),
  sort: choiceParameter('What to sort by.', templateSorts, 'createdAt'),
  dir: directionParameter,
});
export type ListTemplates = v.InferOutput<typeof ListTemplates>;

/** A page of templates. */
export const TemplatePage = v.object({
  data: v.array(TemplateBody),
  ...PageFigures.entries,
});

/** `POST /templates/bulk-update`. */
export const BulkUpdateTemplates = v.object({
  ids: v.pipe(
    v.array(GivenUuid),
    v.minLength(1, 'must name at least one template'),
    v.maxLength(1000, 'must name at most 1000 templates'),
  ),
  delete: v.optional(v.boolean()),
});
export type BulkUpdateTemplates = v.InferOutput<typeof BulkUpdateTemplates>;

/** `GET /templates/{id}/usage`. */
export const TemplateUsage = v.object({
  workflowSteps: v.number(),
  emailsSent: v.number(),
  steps: v.array(
    v.object({ id: v.string(), name: v.string(), type: v.string(), workflowId: v.string(), workflowName: v.string() }),
  ),
  campaigns: v.array(v.unknown()),
});
export type TemplateUsage = v.InferOutput<typeof TemplateUsage>;

nameSchemas({ Template: TemplateBody, TemplatePage });

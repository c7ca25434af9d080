import * as v from 'valibot';
import { PageFigures } from '../lib/pages.ts';
import { EmailField, SenderField, withBareSender } from '../lib/validation/email-address.ts';
import {
  choice,
  choiceParameter,
  directionParameter,
  field,
  GivenUuid,
  Instant,
  Integer,
  JsonObject,
  nameSchemas,
  pageParameters,
  parameter,
  singleLine,
  textField,
  Uuid,
} from '../lib/validation/fields.ts';
import { DocumentBody, DocumentSource, needsContent } from './source.ts';

/** The kinds of templates, campaigns and messages (docs/contract/campaigns-and-workflows.md#1-2). */
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

/** The content of templates and campaigns in a response. */
export const contentEntries = {
  name: field('Internal name. Recipients don’t see it.', v.string()),
  description: field('Internal description; null if there is none.', v.nullable(v.string())),
  subject: field('Subject line, with Liquid variables.', v.string()),
  body: field('HTML body, with Liquid variables.', v.string()),
  document: field('The blocks that `body` is compiled from; null for content written as HTML.', DocumentBody),
  from: field('Email address of the sender.', v.string()),
  fromName: field('Display name of the sender; null if there is none.', v.nullable(v.string())),
  replyTo: field('Reply-To address; null if there is none.', v.nullable(v.string())),
  type: field(
    '`MARKETING`: sent to subscribed contacts only, with an unsubscribe footer. `HEADLESS`: the same without the footer. `TRANSACTIONAL`: sent whether or not the contact is subscribed, without a footer.',
    TypeField,
  ),
};

/** The same in a request, without name and type. */
export const givenContentEntries = {
  description: field(
    'Internal description, up to 2,000 characters; null or absent for none.',
    v.nullish(textField('description', 0, 2000)),
  ),
  subject: field('Subject line, with Liquid variables; 1 to 998 characters.', SubjectSource),
  body: field(
    'HTML body, with Liquid variables; up to 2,000,000 characters. Give either `body` or `document`.',
    v.optional(BodySource),
  ),
  document: field(
    'Blocks that the HTML body is compiled from, in place of `body`; see the templates guide. Null keeps the current HTML without blocks.',
    DocumentSource,
  ),
  from: field(
    'Sender as an email address, or with a display name: `Acme <hello@acme.com>`. The domain must be verified for the project.',
    SenderField,
  ),
  fromName: field(
    'Display name of the sender, up to 100 characters. A name given in `from` takes precedence.',
    SenderName,
  ),
  replyTo: field('Reply-To address; null or absent for none.', ReplyTo),
};

/** A template in an answer. */
export const TemplateBody = v.object({
  id: field('ID of the template.', Uuid),
  ...contentEntries,
  revision: field(
    'Increases with every edit. The `ETag` header carries the same value; send it as `If-Match` to avoid overwriting somebody else’s edit.',
    Integer,
  ),
  projectId: field('ID of the project that the template belongs to.', Uuid),
  createdAt: field('When the template was created.', Instant),
  updatedAt: field('When the template was last edited.', Instant),
});
export type TemplateBody = v.InferOutput<typeof TemplateBody>;

const parts = {
  name: field('Internal name of the template, 1 to 255 characters.', textField('name', 1, 255)),
  ...givenContentEntries,
};

/** `POST /templates`. */
export const CreateTemplate = v.pipe(
  v.object({
    ...parts,
    type: field(
      '`MARKETING`: for subscribed contacts, with an unsubscribe footer. `HEADLESS`: the same without the footer. `TRANSACTIONAL`: for any contact, without a footer.',
      v.optional(TypeField, 'MARKETING'),
    ),
  }),
  needsContent(),
  v.transform(withBareSender),
);
export type CreateTemplate = v.InferOutput<typeof CreateTemplate>;

/** `PATCH /templates/{id}`: any part of a template. */
export const PatchTemplate = v.pipe(
  v.partial(
    v.object({
      ...parts,
      type: field(
        'New type: `MARKETING` for subscribed contacts, with an unsubscribe footer; `HEADLESS` for the same without the footer; `TRANSACTIONAL` for any contact, without a footer.',
        TypeField,
      ),
    }),
  ),
  v.transform(withBareSender),
);
export type PatchTemplate = v.InferOutput<typeof PatchTemplate>;

/** `POST /templates/preview`: content, and what it is filled in with: a contact, values as `/v1/send` takes them, or both. */
export const PreviewTemplate = v.object({
  subject: field('Subject line to render, with Liquid variables; 1 to 998 characters.', SubjectSource),
  body: field('HTML body to render, with Liquid variables; up to 2,000,000 characters.', BodySource),
  type: field('Type to render as. `MARKETING` adds the unsubscribe footer.', v.optional(TypeField, 'MARKETING')),
  contactId: field('ID of the contact whose data fills in the variables; absent or null for none.', v.nullish(Uuid)),
  data: field(
    'Values for the variables, as `data` in `POST /v1/send`. They take precedence over the contact’s data and are not stored. With neither `data` nor `contactId`, variables are left as they are.',
    v.nullish(JsonObject),
  ),
});
export type PreviewTemplate = v.InferOutput<typeof PreviewTemplate>;
/** A message as a recipient would see it. */
export const PreviewBody = v.object({
  subject: field('Rendered subject line.', v.string()),
  html: field('Rendered HTML, including the footer if there is one.', v.string()),
  text: field('Plain-text part derived from the HTML; null if there is none.', v.nullable(v.string())),
});
export type PreviewBody = v.InferOutput<typeof PreviewBody>;

/** Fields by which templates can be sorted. */
export const templateSorts = ['name', 'subject', 'type', 'createdAt', 'updatedAt'] as const;

/** `GET /templates`; an unknown sort or direction falls back to the default. */
export const ListTemplates = v.object({
  ...pageParameters(100),
  type: choiceParameter('Templates of this type; all when absent.', templateTypes),
  search: parameter('Text in the name, description or subject, in any letter case.'),
  sort: choiceParameter('Field to sort by.', templateSorts, 'createdAt'),
  dir: directionParameter,
});
export type ListTemplates = v.InferOutput<typeof ListTemplates>;

/** A page of templates. */
export const TemplatePage = v.object({
  data: field('Templates on this page.', v.array(TemplateBody)),
  ...PageFigures.entries,
});

/** `POST /templates/bulk-update`. */
export const BulkUpdateTemplates = v.object({
  ids: field(
    'IDs of the templates to delete, 1 to 1,000. All of them are deleted, or none.',
    v.pipe(
      v.array(GivenUuid),
      v.minLength(1, 'must name at least one template'),
      v.maxLength(1000, 'must name at most 1000 templates'),
    ),
  ),
  delete: field(
    '`true` deletes the templates. Otherwise the request only checks that they exist.',
    v.optional(v.boolean()),
  ),
});
export type BulkUpdateTemplates = v.InferOutput<typeof BulkUpdateTemplates>;

/** `GET /templates/{id}/usage`. */
export const TemplateUsage = v.object({
  workflowSteps: field('Number of workflow steps that send the template.', Integer),
  emailsSent: field('Number of emails created from the template, including emails not sent yet.', Integer),
  steps: field(
    'Workflow steps that send the template, by the age of their workflow.',
    v.array(
      v.object({
        id: field('ID of the step.', v.string()),
        name: field('Name of the step.', v.string()),
        type: field('Type of the step: `SEND_EMAIL`.', v.string()),
        workflowId: field('ID of the workflow that the step belongs to.', v.string()),
        workflowName: field('Name of that workflow.', v.string()),
      }),
    ),
  ),
  campaigns: field(
    'Always empty. A campaign has content of its own and does not refer to templates.',
    v.array(v.unknown()),
  ),
});
export type TemplateUsage = v.InferOutput<typeof TemplateUsage>;

nameSchemas({ Template: TemplateBody, TemplatePage });

import { inProject, route } from '../http/route.ts';
import {
  deleteField,
  FieldDeletion,
  FieldList,
  FieldUsage,
  fieldUsage,
  ListValues,
  listFields,
  listValues,
  ValueList,
} from './fields-service.ts';

/** The fields of contacts: their names, values and uses. */
export const contactFieldRoutes = [
  route.get('/contacts/fields', {
    heavy: true,
    ...inProject('contacts:read'),
    summary: 'List the fields of contacts',
    description: 'The standard fields and every key of contact data, with its type and the percentage that has it.',
    returns: 'All fields, sorted by name, each with its type and the percentage of contacts that have a value.',
    reply: FieldList,
    handle: ({ db, project }) => listFields(db, project.id),
  }),
  route.get('/contacts/fields/:field/values', {
    pathTexts: { field: 'Name of the field, such as `data.plan`.' },
    heavy: true,
    ...inProject('contacts:read'),
    summary: 'List distinct values of a field',
    description:
      '`data.plan` and `plan` mean the same. Complete while a key has at most 1,000 distinct values of at most 200 characters; otherwise values of up to 10,000 characters from the newest 5,000 contacts.',
    query: ListValues,
    returns: 'The distinct values, sorted by their text; there may be more when `count` reaches `limit`.',
    reply: ValueList,
    handle: ({ db, project, params, query }) => listValues(db, project.id, params.field, query.limit),
  }),
  route.get('/contacts/fields/:field/usage', {
    pathTexts: { field: 'Name of the field, such as `data.plan`.' },
    ...inProject('contacts:read'),
    summary: 'Get what uses a field',
    returns: 'The segments, campaigns and workflows that use the field, and whether it can be deleted.',
    reply: FieldUsage,
    handle: ({ db, project, params }) => fieldUsage(db, project.id, params.field),
  }),
  route.delete('/contacts/fields/:field', {
    bareRefusals: [400],
    pathTexts: { field: 'Name of the field, such as `data.plan`.' },
    heavy: true,
    ...inProject('contacts:write'),
    summary: 'Delete a field from every contact',
    description: 'Fields that a segment, campaign or workflow uses cannot be deleted. Emits no events.',
    returns: 'The number of contacts that the field was removed from.',
    reply: FieldDeletion,
    handle: ({ db, project, params }) => deleteField(db, project.id, params.field),
  }),
];

import type { Readable } from 'node:stream';
import { defineEntity, type FilterQuery, type InferEntity, LockMode } from '@mikro-orm/core';
import { conditionQuery } from '../../contacts/conditions.ts';
import { type ContactFilter, matchesNobody, matching } from '../../contacts/list-queries.ts';
import { contactPage } from '../../contacts/service.ts';
import { badRequest, conflict, notFound } from '../../lib/errors.ts';
import { leastId, newId } from '../../lib/ids.ts';
import { csvFile, streamOf } from '../../lib/text.ts';
import { recordChange } from '../../projects/audit/record.ts';
import { ofProject } from '../../projects/queries.ts';
import { baseColumns, isoText, lockName } from '../../store/columns.ts';
import { type Database, join, type Query, raw, sql } from '../../store/sql.ts';
import { checkedDefinition, conditionObject, storedDefinition } from '../definition.ts';
import type { CreateView, ExportContacts, FilterBody, PatchView, SearchContacts, ViewBody } from './schema.ts';

const p = defineEntity.properties;

/** A saved view of the list of contacts. */
export const ContactView = defineEntity({
  name: 'ContactView',
  tableName: 'contact_views',
  properties: {
    ...baseColumns,
    projectId: ofProject(),
    name: p.text(),
    filter: p.json<ViewBody['filter']>().defaultRaw("'{}'::jsonb"),
    sort: p.text().$type<ViewBody['sort']>().default('createdAt'),
    dir: p.text().$type<ViewBody['dir']>().default('desc'),
    columns: p.json<string[]>().nullable(),
  },
  uniques: [{ name: 'contact_views_name', properties: ['projectId', 'name'] }],
});
type ContactView = InferEntity<typeof ContactView>;

const mostViews = 100;

/** Every saved view of a project, by name. */
export async function listViews(db: Database, projectId: string): Promise<{ data: ViewBody[] }> {
  const views = await db.em.find(ContactView, { projectId }, { orderBy: { name: 'asc', id: 'asc' } });
  return { data: views.map(viewBody) };
}

/** Saves a view. @throws 400 for its condition and where the project has 100, 409 for a name that is taken */
export function createView(db: Database, projectId: string, body: CreateView, now: Date): Promise<ViewBody> {
  return db.transaction(async (tx) => {
    await checkedFilter(tx, projectId, body.filter, now);
    await refuseTaken(tx, { projectId, name: body.name });
    if ((await tx.em.count(ContactView, { projectId })) >= mostViews)
      throw badRequest(`A project can have at most ${mostViews} saved views`);
    const view = tx.em.create(ContactView, { projectId, ...body });
    await tx.em.flush();
    await record(tx, 'contact_view.created', view);
    return viewBody(view);
  });
}

/** Changes a view. @throws 404, 400 and 409 as on creation */
export function patchView(db: Database, projectId: string, id: string, body: PatchView, now: Date): Promise<ViewBody> {
  return db.transaction(async (tx) => {
    await checkedFilter(tx, projectId, body.filter, now);
    if (body.name !== undefined) await refuseTaken(tx, { projectId, name: body.name, id: { $ne: id } });
    const view = await lockedView(tx, projectId, id);
    tx.em.assign(view, { ...body, updatedAt: new Date() }, { ignoreUndefined: true });
    await record(tx, 'contact_view.updated', view);
    return viewBody(view);
  });
}

/** Deletes a view. @throws 404 */
export function deleteView(db: Database, projectId: string, id: string): Promise<void> {
  return db.transaction(async (tx) => {
    const view = await lockedView(tx, projectId, id);
    tx.em.remove(view);
    await recordChange(tx, projectId, { action: 'contact_view.deleted', target: id, before: { name: view.name } });
  });
}

async function lockedView(tx: Database, projectId: string, id: string): Promise<ContactView> {
  const view = await tx.em.findOne(ContactView, { projectId, id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (view === null) throw notFound('saved view', id);
  return view;
}

function record(tx: Database, action: string, { id, projectId, name }: ContactView): Promise<void> {
  return recordChange(tx, projectId, { action, target: id, after: { name } });
}

// Whoever saves at the same moment waits, and finds the name taken.
async function refuseTaken(tx: Database, view: FilterQuery<ContactView> & { projectId: string; name: string }) {
  await lockName(tx, `contact views ${view.projectId}`);
  if ((await tx.em.count(ContactView, view)) > 0)
    throw conflict(`A saved view with the name “${view.name}” exists`, { field: 'name' });
}

function viewBody({ projectId: _, createdAt, updatedAt, columns, ...view }: ContactView): ViewBody {
  return { ...view, columns: columns ?? null, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() };
}

/** A page of the contacts that a filter leaves. @throws 400 for its condition, and for a cursor of another list */
export async function searchContacts(db: Database, projectId: string, { filter, ...page }: SearchContacts, now: Date) {
  return contactPage(db, projectId, await checkedFilter(db, projectId, filter, now), page);
}

/** The contacts that a filter leaves as a CSV file, which the audit log notes. @throws 400 for its condition */
export async function exportContacts(
  db: Database,
  projectId: string,
  { filter, contactIds, excludeIds, columns }: ExportContacts,
  now: Date,
): Promise<Readable> {
  const which = await checkedFilter(db, projectId, filter, now);
  await db.transaction((tx) =>
    recordChange(tx, projectId, {
      action: 'contacts.exported',
      target: newId(),
      after: { columns, ...(filter ? { filter } : {}), ...(contactIds ? { contacts: contactIds.length } : {}) },
    }),
  );
  return contactsCsv(db, projectId, which, { columns, contactIds, excludeIds });
}

const filterBy =
  (read: typeof checkedDefinition) =>
  async (db: Database, projectId: string, filter: FilterBody | undefined, now: Date): Promise<ContactFilter> => {
    const plain = { search: filter?.search || null, subscribed: filter?.subscribed ?? null };
    const given = filter?.condition ?? null;
    if (given === null) return plain;
    const tree = conditionObject(given, '"filter.condition" must be an object');
    const { condition, segments } = await read(db, projectId, tree);
    const compiled = (reach: 'page' | 'all') => conditionQuery(condition, { projectId, now, segments, reach });
    return {
      ...plain,
      condition: { key: JSON.stringify(given), page: compiled('page'), all: compiled('all') },
    };
  };

/**
 * A filter of a request, ready for queries. Windows of its condition count back from `now`.
 * @throws 400 that names the place in the condition
 */
export const checkedFilter = filterBy(checkedDefinition);

/** A filter that was checked when it was stored; segments of its condition that are gone have no members. */
export const storedFilter = filterBy(storedDefinition);

const rowsPerPage = 1_000;

/**
 * The contacts that a filter leaves as a stream of CSV (RFC 4180, UTF-8): a header line, then a line for each in the order of
 * their ids, read a page at a time. Values that are no text are JSON.
 */
function contactsCsv(
  db: Database,
  projectId: string,
  filter: ContactFilter,
  { columns, contactIds, excludeIds }: Omit<ExportContacts, 'filter'>,
): Promise<Readable> {
  return streamOf(csvFile(columns, pages()));

  async function* pages(): AsyncGenerator<unknown[][]> {
    if (matchesNobody(filter)) return;
    const cells = join(columns.map(cellOf), ', ');
    for (let after = leastId; ; ) {
      const rows = await db.rows<{ id: string; cells: unknown[] }>(
        sql`
          select c.id, jsonb_build_array(${cells}) as cells from contacts c
          where ${matching(projectId, filter)} and c.id > ${after}::uuid
            and (${contactIds}::uuid[] is null or c.id = any(${contactIds}::uuid[])) and not (c.id = any(${excludeIds}::uuid[]))
          order by c.id limit ${rowsPerPage}`,
      );
      yield rows.map((row) => row.cells);
      if (rows.length < rowsPerPage) return;
      after = rows.at(-1)?.id ?? after;
    }
  }
}

// Only the fields of the file are read, because the data of a contact may be large.
function cellOf(column: string): Query {
  return builtIn[column] ?? sql`c.data -> ${column.slice('data.'.length)}::text`;
}

const builtIn: Record<string, Query> = {
  email: raw('c.email'),
  subscribed: raw('c.subscribed'),
  createdAt: raw(isoText('c.created_at')),
  updatedAt: raw(isoText('c.updated_at')),
  id: raw('c.id'),
};

import { useQueries, useQuery } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import { answer, api } from '../api/client.ts';
import { ApiError } from '../api/errors.ts';
import { useProjectId } from '../app/address.ts';
import { useContactFields } from '../app/contact-fields.ts';
import { conditionSentence } from './sentence.ts';
import { filtersIn, formOf, isUuid, type MailSourceKind, sourceOf, type Tree } from './tree.ts';

/** The names that the filters of a project can use. */
export interface Vocabulary {
  /** Keys of contact data with the type that their values have. */
  dataTypes: ReadonlyMap<string, string>;
  events: readonly string[];
  segments: readonly { id: string; name: string }[];
  /** Whether there is an event that started a workflow, whose data filters can use. */
  hasTrigger: boolean;
}

/** The names that filters can use; asked for once for all filters of a page. */
export function useVocabulary(exceptSegment?: string, hasTrigger = false): Vocabulary {
  const project = useProjectId();
  const fields = useContactFields();
  const events = useQuery({
    queryKey: ['events', project, 'names'],
    queryFn: () => answer(api.GET('/events/names')),
  });
  const segments = useQuery({
    queryKey: ['segments', project],
    queryFn: () => answer(api.GET('/segments')),
  });
  return {
    dataTypes: new Map(
      (fields.data?.fields ?? [])
        .filter(({ isCustom }) => isCustom)
        .map(({ field, type }) => [field.replace(/^data\./, ''), type]),
    ),
    events: events.data?.eventNames ?? [],
    segments: (segments.data ?? []).filter(({ id }) => id !== exceptSegment),
    hasTrigger,
  };
}

/** A step of a workflow that sends email. */
export interface MailStep {
  id: string;
  name: string;
}

/** The steps that send email in the workflow that is edited, which conditions in it can ask about; null elsewhere. */
export const MailSteps = createContext<readonly MailStep[] | null>(null);

/** The source of emails that has this ID, with its name; null when it was deleted. */
export const sourceQuery = (project: string, kind: MailSourceKind, id: string) => ({
  queryKey: ['mail-source', project, kind, id],
  staleTime: 60_000,
  retry: false,
  queryFn: async (): Promise<MailSource | null> => {
    const path = { path: { id } };
    const gone = (error: unknown) => {
      if (error instanceof ApiError && error.status === 404) return null;
      throw error;
    };
    if (kind === 'campaignId')
      return answer(api.GET('/campaigns/{id}', { params: path })).then(({ data }) => ({ name: data.name }), gone);
    if (kind === 'templateId') return answer(api.GET('/templates/{id}', { params: path })).catch(gone);
    const [workflow] = (await answer(api.GET('/workflows', { params: { query: { stepId: id } } }))).data;
    if (workflow === undefined) return null;
    const { steps } = await answer(api.GET('/workflows/{id}', { params: { path: { id: workflow.id } } }));
    const step = steps.find((each) => each.id === id);
    return step ? { name: step.name, workflow: workflow.id } : null;
  },
});

/** What an email is made by: a campaign, a template, or a step of a workflow. */
interface MailSource {
  name: string;
  /** The workflow of a step. */
  workflow?: string;
}

/** Conditions as sentences, with the names of the segments, and of the sources of emails that are in `trees`. */
export function useConditionSentence(...trees: readonly (Tree | null | undefined)[]): (tree: Tree) => string {
  const project = useProjectId();
  const own = useContext(MailSteps) ?? [];
  const segments = useQuery({
    queryKey: ['segments', project],
    queryFn: () => answer(api.GET('/segments')),
  });
  const sources = trees.flatMap((tree) =>
    tree ? [...filtersIn(formOf(tree))].flatMap(({ more }) => sourceOf(more ?? {}) ?? []) : [],
  );
  const asked = [...new Map(sources.map((source) => [source.id, source])).values()].filter(
    ({ id }) => isUuid(id) && own.every((step) => step.id !== id),
  );
  const found = useQueries({ queries: asked.map(({ kind, id }) => sourceQuery(project, kind, id)) });
  const names = new Map([...own, ...(segments.data ?? [])].map(({ id, name }) => [id, name]));
  for (const [n, { id }] of asked.entries()) {
    const name = found[n]?.data?.name;
    if (name !== undefined) names.set(id, name);
  }
  return (tree) => conditionSentence(tree, names);
}

/** Values that contacts have in a field, for suggestions; asked for when `wanted`, once for each field. */
export function useKnownValues(key: string, wanted: boolean): readonly string[] {
  const project = useProjectId();
  const values = useQuery({
    queryKey: ['contacts', project, 'values', key],
    enabled: wanted,
    staleTime: 60_000,
    queryFn: () =>
      answer(
        api.GET('/contacts/fields/{field}/values', {
          params: { path: { field: `data.${key}` }, query: { limit: 200 } },
        }),
      ),
  });
  return values.data?.values.map(String) ?? [];
}

import { useQuery } from '@tanstack/react-query';
import { answer, api } from '../api/client.ts';
import { useProjectId } from '../app/address.ts';
import { conditionSentence } from './sentence.ts';
import type { Tree } from './tree.ts';

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
  const fields = useQuery({
    queryKey: ['contacts', project, 'fields'],
    queryFn: () => answer(api.GET('/contacts/fields')),
  });
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

/** A condition as a sentence with the names of the project's segments. */
export function useConditionSentence(): (tree: Tree) => string {
  const project = useProjectId();
  const segments = useQuery({
    queryKey: ['segments', project],
    queryFn: () => answer(api.GET('/segments')),
  });
  const names = new Map((segments.data ?? []).map(({ id, name }) => [id, name]));
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

import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { answer, api } from '../api/client.ts';
import { ApiError } from '../api/errors.ts';
import { useProjectId } from '../app/address.ts';
import { Badge } from '../ui/Badge.tsx';
import { usePause } from '../ui/pause.ts';
import { Loading, Note, Problem } from '../ui/States.tsx';
import { counted } from '../words/numbers.ts';
import { ConditionBuilder, type GroupCounts, type PlacedProblem } from './ConditionBuilder.tsx';
import { newForm } from './edits.ts';
import {
  type Condition,
  type ConditionForm,
  type FormFilter,
  type FormGroup,
  filtersIn,
  formOf,
  groupsIn,
  isUuid,
  missingOf,
  sourceOf,
  type Tree,
  treeOf,
} from './tree.ts';
import { useConditionSentence } from './vocabulary.tsx';

/** Edits a condition that begins as `initial`, reports its tree after every edit, and shows the contacts that match it now. */
export function ConditionEditor({
  initial,
  exceptSegment,
  hasTrigger,
  refused,
  onChange,
}: {
  initial: Tree | null;
  exceptSegment?: string | undefined;
  /** The condition is that of a workflow's step. */
  hasTrigger?: boolean | undefined;
  /** The problems that the service found when the condition was saved. */
  refused?: unknown;
  onChange: (tree: Tree) => void;
}) {
  const [form, setForm] = useState(() => (initial ? formOf(initial) : newForm()));
  // Problems of the last save do not apply to parts that were edited since.
  const [answered, setAnswered] = useState<unknown>(null);
  const uncounted = whyUncounted([...filtersIn(form)]);
  const { preview, missing } = usePreview(form);
  const change = (next: ConditionForm) => {
    setAnswered(refused);
    setForm(next);
    onChange(treeOf(next));
  };
  const counts = useGroupCounts(form);
  const tree = treeOf(form);
  const sentence = useConditionSentence(tree);
  const problem = placeOf(preview.error) ?? (refused === answered ? null : placeOf(refused));
  return (
    <div className="grid items-start gap-4 @3xl:grid-cols-[minmax(0,1fr)_minmax(14rem,18rem)]">
      <div className="stack">
        <p data-slot="sentence" className="break" dir="auto">
          {sentence(tree)}
        </p>
        <ConditionBuilder
          form={form}
          problem={problem}
          counts={counts}
          exceptSegment={exceptSegment}
          hasTrigger={hasTrigger}
          onChange={change}
        />
      </div>
      <section
        className="min-h-32 rounded-lg border border-line p-3 aria-busy:opacity-70 @3xl:sticky @3xl:top-4"
        aria-label="Matching contacts"
        aria-busy={preview.isFetching}
      >
        {missing > 0 ? (
          <Note>Complete {counted(missing, 'filter')} to see matching contacts.</Note>
        ) : uncounted ? (
          <Note>{uncounted}</Note>
        ) : preview.error ? (
          placeOf(preview.error) ? (
            <Note tone="bad">Fix the marked filter to see matching contacts.</Note>
          ) : (
            <Problem error={preview.error} again={() => void preview.refetch()} />
          )
        ) : preview.data ? (
          <Found total={preview.data.total} contacts={preview.data.contacts} />
        ) : (
          <Loading what="Counting" />
        )}
      </section>
    </div>
  );
}

function usePreview(form: ConditionForm) {
  const project = useProjectId();
  const settled = usePause(form, 400);
  const condition = useMemo(() => treeOf(settled), [settled]);
  const missing = [...filtersIn(form)].filter((filter) => missingOf(filter) !== null).length;
  const canAsk = [...filtersIn(settled)].every(isCountable);
  const preview = useQuery({
    queryKey: ['segments', project, 'preview', condition],
    enabled: canAsk,
    placeholderData: keepPreviousData,
    retry: false,
    queryFn: ({ signal }) =>
      answer(api.POST('/segments/preview', { body: { condition: condition as Condition }, signal })),
  });
  return { preview, missing };
}

// Each group costs a count of its own.
const mostCounted = 6;

/**
 * How many contacts match each group by itself, of the first six groups that are complete. Counted when typing pauses; a group
 * that is changed meanwhile has no count, and its request is cancelled. A single group needs none: it is the whole condition.
 */
function useGroupCounts(form: ConditionForm): GroupCounts {
  const project = useProjectId();
  const settled = usePause(form, 400);
  const all = [...groupsIn(settled)];
  const current = new Set(groupsIn(form));
  const groups = (all.length < 2 ? [] : all.filter((group) => current.has(group) && isComplete(group))).slice(
    0,
    mostCounted,
  );
  const counts = useQueries({
    queries: groups.map((group) => {
      const condition = treeOf({ key: group.key, logic: 'AND', groups: [group] });
      return {
        queryKey: ['segments', project, 'preview', 'count', condition],
        staleTime: 30_000,
        retry: false,
        queryFn: ({ signal }: { signal: AbortSignal }) =>
          answer(api.POST('/segments/preview', { body: { condition: condition as Condition, limit: 0 }, signal })),
      };
    }),
  });
  return new Map(
    groups.flatMap(({ key }, index) => {
      const total = counts[index]?.data?.total;
      return total === undefined ? [] : [[key, total]];
    }),
  );
}

function isComplete(group: FormGroup): boolean {
  const filters = filtersIn({ key: group.key, logic: 'AND', groups: [group] });
  return [...filters].every(isCountable);
}

function isCountable(filter: FormFilter): boolean {
  return missingOf(filter) === null && whyUncounted([filter]) === null;
}

/** Returns the reason that contacts who match complete filters cannot be counted yet; null when they can. */
function whyUncounted(filters: readonly FormFilter[]): string | null {
  if (filters.some(({ kind }) => kind === 'trigger'))
    return 'Contacts cannot be counted before the triggering event is known.';
  const sources = filters.flatMap(({ more }) => sourceOf(more ?? {}) ?? []);
  return sources.every(({ id }) => isUuid(id)) ? null : 'Contacts cannot be counted before the new step is saved.';
}

function placeOf(error: unknown): PlacedProblem | null {
  if (!(error instanceof ApiError) || typeof error.details.path !== 'string') return null;
  return { path: error.details.path.replace(/^audienceCondition\.?/, ''), message: error.message };
}

function Found({ total, contacts }: { total: number; contacts: { id: string; email: string; subscribed: boolean }[] }) {
  return (
    <>
      <p aria-live="polite">
        <strong>{counted(total, 'contact')}</strong>{' '}
        {total > contacts.length ? 'match. The newest:' : total === 1 ? 'matches:' : total === 0 ? 'match.' : 'match:'}
      </p>
      <ul>
        {contacts.map(({ id, email, subscribed }) => (
          <li key={id} className="flex flex-wrap gap-x-2 gap-y-1 py-0.5 text-sm">
            <span className="break">{email}</span>
            {subscribed ? null : <Badge>Not subscribed</Badge>}
          </li>
        ))}
      </ul>
    </>
  );
}

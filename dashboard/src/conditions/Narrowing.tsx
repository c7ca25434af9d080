import { useQuery } from '@tanstack/react-query';
import { Plus, X } from 'lucide-react';
import { type ReactNode, useContext, useState } from 'react';
import { answer, api } from '../api/client.ts';
import { useProjectId } from '../app/address.ts';
import { Button } from '../ui/Button.tsx';
import { usePause } from '../ui/pause.ts';
import { hasTimes, narrowed, newTest, withOperator, withTests } from './edits.ts';
import { maxTests, maxTimes, needsOf, operatorName, testOperators, usualActivity } from './grammar.ts';
import { partClass, useFocusMove } from './part.tsx';
import { type FormFilter, type MailSourceKind, sourceOf } from './tree.ts';
import { ValueField } from './ValueField.tsx';
import { MailSteps, sourceQuery, type Vocabulary } from './vocabulary.tsx';

interface Props {
  filter: FormFilter;
  onChange: (filter: FormFilter) => void;
}

/** What narrows a filter: on events tests of their data and how often, on emails which email and which link. */
export function Narrowing({ filter, known, onChange }: Props & { known: Vocabulary }) {
  return (
    <div className="flex flex-col gap-2 border-s-2 border-line ps-3">
      {filter.kind === 'event' ? (
        <>
          <Tests filter={filter} known={known} onChange={onChange} />
          <Times filter={filter} onChange={onChange} />
        </>
      ) : (
        <Mail filter={filter} onChange={onChange} />
      )}
    </div>
  );
}

const line = 'flex flex-wrap items-center gap-2';

function Tests({ filter, known, onChange }: Props & { known: Vocabulary }) {
  const tests = filter.tests ?? [];
  const { goTo, landing } = useFocusMove();
  const put = (place: number, test: FormFilter) =>
    onChange(
      withTests(
        filter,
        tests.map((each, n) => (n === place ? test : each)),
      ),
    );
  return (
    <>
      {tests.map((test, n) => (
        // biome-ignore lint/a11y/useSemanticElements: a legend cannot stand in the line with its controls
        <div key={test.key} role="group" aria-label={`Data filter ${n + 1}`} className={line}>
          <span className="text-sm text-muted">{n === 0 ? 'where' : 'and'}</span>
          <input
            ref={landing(test.key)}
            className={partClass()}
            dir="auto"
            aria-label="Data field"
            placeholder="order.total"
            value={test.name}
            onChange={({ target }) => put(n, { ...test, name: target.value })}
          />
          <select
            className={partClass()}
            aria-label="Data operator"
            value={test.operator}
            onChange={({ target }) => put(n, withOperator(test, target.value))}
          >
            {testOperators.map((operator) => (
              <option key={operator} value={operator}>
                {operatorName(operator, test.type)}
              </option>
            ))}
          </select>
          {needsOf(test.operator) === 'nothing' ? null : (
            <ValueField filter={test} known={known} isRefused={false} onChange={(next) => put(n, next)} />
          )}
          <Button
            size="small"
            variant="plain"
            aria-label={`Remove data filter ${n + 1}`}
            onClick={() => {
              goTo((tests[n + 1] ?? tests[n - 1])?.key ?? 'add');
              onChange(
                withTests(
                  filter,
                  tests.filter(({ key }) => key !== test.key),
                ),
              );
            }}
          >
            <X aria-hidden />
          </Button>
        </div>
      ))}
      <div>
        <Button
          size="small"
          variant="plain"
          ref={landing('add')}
          disabled={tests.length >= maxTests}
          onClick={() => {
            const test = newTest();
            goTo(test.key);
            onChange(withTests(filter, [...tests, test]));
          }}
        >
          <Plus aria-hidden /> Filter by event data
        </Button>
      </div>
    </>
  );
}

function Times({ filter, onChange }: Props) {
  const { goTo, landing } = useFocusMove();
  if (!hasTimes(filter.operator)) return null;
  const times = filter.more?.times ?? null;
  if (times === null)
    return (
      <div>
        <Button
          size="small"
          variant="plain"
          ref={landing('add')}
          onClick={() => {
            goTo('atLeast');
            onChange(narrowed(filter, { times: { atLeast: 2 } }));
          }}
        >
          <Plus aria-hidden /> Number of times
        </Button>
      </div>
    );
  const field = (key: 'atLeast' | 'atMost', label: string) => (
    <label className={line}>
      <span className="text-sm text-muted">{label}</span>
      <input
        ref={landing(key)}
        className={partClass('flex-[0_1_5.5rem]')}
        type="number"
        min="0"
        max={maxTimes}
        value={times[key] ?? ''}
        onChange={({ target: { value } }) => {
          const { [key]: _, ...other } = times;
          onChange(narrowed(filter, { times: value === '' ? other : { ...other, [key]: Number(value) } }));
        }}
      />
    </label>
  );
  return (
    // biome-ignore lint/a11y/useSemanticElements: a legend cannot stand in the line with its controls
    <div role="group" aria-label="Number of times" className={line}>
      {field('atLeast', 'At least')}
      {field('atMost', 'At most')}
      <span className="text-sm text-muted">times</span>
      <Button
        size="small"
        variant="plain"
        aria-label="Remove number of times"
        onClick={() => {
          goTo('add');
          onChange(narrowed(filter, { times: null }));
        }}
      >
        <X aria-hidden />
      </Button>
    </div>
  );
}

const otherSources: Record<MailSourceKind, string> = {
  campaignId: 'an email of a campaign',
  templateId: 'an email with a template',
  stepId: 'an email of a workflow step',
};

function Mail({ filter, onChange }: Props) {
  const steps = useContext(MailSteps);
  const source = sourceOf(filter.more ?? {});
  const isOwn = source !== null && (steps ?? []).some(({ id }) => id === source.id);
  const set = (kind: MailSourceKind, id: string) => onChange(narrowed(filter, { of: { [kind]: id } }));
  return (
    <div className={line}>
      <select
        className={partClass('flex-[1_1_11rem]')}
        aria-label="Email"
        value={isOwn ? source.id : (source?.kind ?? '')}
        onChange={({ target: { value } }) => {
          if (value === '') onChange(narrowed(filter, { of: null }));
          else if (value in otherSources) set(value as MailSourceKind, '');
          else set('stepId', value);
        }}
      >
        <option value="">any email</option>
        {steps && steps.length > 0 ? (
          <optgroup label="Sent by this workflow">
            {steps.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </optgroup>
        ) : null}
        {Object.entries(otherSources).map(([kind, title]) => (
          <option key={kind} value={kind}>
            {kind === 'stepId' && steps ? 'an email of another workflow' : title}
          </option>
        ))}
      </select>
      {source === null || isOwn ? null : source.kind === 'stepId' ? (
        <StepChoice key={source.kind} id={source.id} onChange={(id) => set('stepId', id)} />
      ) : (
        <Choice key={source.kind} kind={source.kind} id={source.id} onChange={(id) => set(source.kind, id)} />
      )}
      {usualActivity(filter.name) === 'clicked' ? (
        <input
          className={partClass('flex-[1_1_14rem]')}
          dir="ltr"
          inputMode="url"
          aria-label="Link"
          placeholder="any link, or https://…"
          value={filter.more?.link ?? ''}
          onChange={({ target }) => onChange(narrowed(filter, { link: target.value }))}
        />
      ) : null}
    </div>
  );
}

type Listed = 'campaignId' | 'templateId' | 'workflow';
const listed = {
  campaignId: { label: 'Campaign', plural: 'campaigns', path: '/campaigns' },
  templateId: { label: 'Template', plural: 'templates', path: '/templates' },
  workflow: { label: 'Workflow', plural: 'workflows', path: '/workflows' },
} as const;
const mostListed = 100;

/** Campaigns, templates or workflows by name: the newest hundred, or those that a search finds. */
function NameChoice({
  kind,
  chosen,
  onChange,
}: {
  kind: Listed;
  /** Null while nothing is chosen; its name is undefined while it is asked for. */
  chosen: { id: string; name: string | undefined } | null;
  onChange: (id: string) => void;
}) {
  const project = useProjectId();
  const { label, plural, path } = listed[kind];
  const [search, setSearch] = useState('');
  const settled = usePause(search, 300);
  const query = useQuery({
    queryKey: ['mail-source', project, kind, 'choice', settled],
    placeholderData: (before) => before,
    queryFn: () => answer(api.GET(path, { params: { query: { search: settled, pageSize: mostListed } } })),
  });
  const offered: readonly { id: string; name: string }[] = query.data?.data ?? [];
  return (
    <>
      {search !== '' || (query.data?.total ?? 0) > mostListed ? (
        <input
          className={partClass('flex-[1_1_8rem]')}
          type="search"
          aria-label={`Search ${plural}`}
          placeholder={`Search ${plural}`}
          value={search}
          onChange={({ target }) => setSearch(target.value)}
        />
      ) : null}
      <NameSelect label={label} chosen={chosen} offered={offered} onChange={onChange} />
    </>
  );
}

function NameSelect({
  label,
  chosen,
  offered,
  onChange,
}: {
  label: string;
  chosen: { id: string; name: string | undefined } | null;
  offered: readonly { id: string; name: string }[];
  onChange: (id: string) => void;
}): ReactNode {
  return (
    <select
      className={partClass()}
      aria-label={label}
      value={chosen?.id ?? ''}
      onChange={({ target }) => onChange(target.value)}
    >
      <option value="" disabled>
        Select a {label.toLowerCase()}
      </option>
      {chosen && offered.every(({ id }) => id !== chosen.id) ? (
        <option value={chosen.id}>{chosen.name ?? '…'}</option>
      ) : null}
      {offered.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
}

/** The source that a filter names already, whose name is asked for by its id. */
function useSource(kind: MailSourceKind, id: string) {
  const project = useProjectId();
  const { data, isSuccess } = useQuery({ ...sourceQuery(project, kind, id), enabled: id !== '' });
  const name = isSuccess ? (data?.name ?? `a deleted ${kind.slice(0, -2)}`) : undefined;
  return { chosen: id === '' ? null : { id, name }, workflow: data?.workflow };
}

function Choice({
  kind,
  id,
  onChange,
}: {
  kind: 'campaignId' | 'templateId';
  id: string;
  onChange: (id: string) => void;
}) {
  return <NameChoice kind={kind} chosen={useSource(kind, id).chosen} onChange={onChange} />;
}

/** A step that sends email, chosen by its workflow. */
function StepChoice({ id, onChange }: { id: string; onChange: (id: string) => void }) {
  const project = useProjectId();
  const { chosen, workflow: found } = useSource('stepId', id);
  const [picked, setPicked] = useState<string | null>(null);
  const workflow = picked ?? found;
  const graph = useQuery({
    queryKey: ['mail-source', project, 'workflow', workflow],
    enabled: workflow !== undefined,
    queryFn: () => answer(api.GET('/workflows/{id}', { params: { path: { id: workflow ?? '' } } })),
  });
  const steps = workflow === undefined ? [] : (graph.data?.steps ?? []);
  return (
    <>
      <NameChoice
        kind="workflow"
        chosen={workflow === undefined ? null : { id: workflow, name: graph.data?.name }}
        onChange={(next) => {
          setPicked(next);
          onChange('');
        }}
      />
      {workflow === undefined && chosen === null ? null : (
        <NameSelect
          label="Step"
          chosen={chosen}
          offered={steps.filter(({ type }) => type === 'SEND_EMAIL')}
          onChange={onChange}
        />
      )}
    </>
  );
}

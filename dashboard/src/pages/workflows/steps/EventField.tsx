import { segmentEvent } from '@fernpost/workflow-graph';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { answer, api } from '../../../api/client.ts';
import { useProjectId } from '../../../app/address.ts';
import { Button } from '../../../ui/Button.tsx';
import { CheckField, SelectField, TextField } from '../../../ui/Field.tsx';
import { eventText, segmentMove } from '../../../words/events.ts';
import { counted } from '../../../words/numbers.ts';
import { operatorNames } from '../graph/graph.ts';
import { segmentChoices } from '../graph/segment-trigger.ts';
import type { EventTest } from './settings.ts';
import { needsValue, TypedValueField } from './values.tsx';

interface Props {
  label: string;
  hint?: string;
  required?: boolean;
  value: string;
  problem?: string | undefined;
  onChange: (value: string) => void;
}

/** The name of an event; those that the project has tracked are offered. */
export function EventField({ onChange, ...rest }: Props) {
  const project = useProjectId();
  const names = useQuery({
    queryKey: ['events', project, 'names'],
    queryFn: () => answer(api.GET('/events/names')),
  });
  return (
    <>
      <TextField
        {...rest}
        maxLength={255}
        list="event-names"
        autoComplete="off"
        onChange={(event) => onChange(event.target.value)}
      />
      <datalist id="event-names">
        {names.data?.eventNames.map((name) => (
          <option key={name} value={name} label={eventText(name)} />
        ))}
      </datalist>
    </>
  );
}

const mostTests = 5;

/** The tests of an event's data, one below the other; all have to pass. */
function WhereRows({
  where,
  problemOf,
  onChange,
}: {
  where: readonly EventTest[];
  problemOf: (field: string) => string | undefined;
  onChange: (where: EventTest[]) => void;
}) {
  const put = (place: number, test: EventTest) => onChange(where.map((each, n) => (n === place ? test : each)));
  return (
    <>
      {where.map((test, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: paths are being typed, only the place stays
        <fieldset className="field" key={n}>
          <legend>Filter {n + 1}</legend>
          <TextField
            label={`Data field of filter ${n + 1}`}
            hint="A key of the event’s data, for example total or order.country."
            value={test.path}
            problem={problemOf(`where.${n}.path`)}
            onChange={({ target }) => put(n, { ...test, path: target.value })}
          />
          <SelectField
            label={`Operator of filter ${n + 1}`}
            value={test.operator}
            problem={problemOf(`where.${n}.operator`)}
            onChange={({ target: { value: operator } }) => {
              const { value = '', ...rest } = test;
              put(n, { ...rest, operator, ...(needsValue(operator) ? { value } : {}) });
            }}
          >
            {Object.entries(operatorNames).map(([operator, name]) => (
              <option key={operator} value={operator}>
                {name}
              </option>
            ))}
          </SelectField>
          {needsValue(test.operator) ? (
            <TypedValueField
              label={`Value of filter ${n + 1}`}
              value={test.value}
              onChange={(value) => put(n, { ...test, value })}
            />
          ) : null}
          <Button
            size="small"
            disabled={where.length === 1}
            onClick={() => onChange(where.filter((_, place) => place !== n))}
          >
            Remove filter {n + 1}
          </Button>
        </fieldset>
      ))}
      <Button
        size="small"
        disabled={where.length >= mostTests}
        onClick={() => onChange([...where, { path: '', operator: 'equals', value: '' }])}
      >
        Add filter
      </Button>
    </>
  );
}

/** Filters an event by its data; null for every event of the name. */
export function EventDataField({
  where,
  problemOf,
  onChange,
}: {
  where: EventTest[] | null;
  problemOf: (field: string) => string | undefined;
  onChange: (where: EventTest[] | null) => void;
}) {
  return (
    <>
      <CheckField
        label="Filter by event data"
        hint="Only events whose data matches all filters count."
        checked={where !== null}
        onChange={({ target }) => onChange(target.checked ? [{ path: '', operator: 'equals', value: '' }] : null)}
      />
      {where ? <WhereRows where={where} problemOf={problemOf} onChange={onChange} /> : null}
    </>
  );
}

/** The tracked segment whose entry or exit starts a workflow, by name; the value is the name of its event. */
export function SegmentEventField({
  kind,
  value,
  problem,
  onChange,
}: Pick<Props, 'value' | 'problem' | 'onChange'> & { kind: 'entry' | 'exit' }) {
  const project = useProjectId();
  const segments = useQuery({ queryKey: ['segments', project], queryFn: () => answer(api.GET('/segments')) });
  const { tracked, untracked } = segmentChoices(segments.data ?? []);
  const current = segmentMove(value)?.segment;
  const isKnown = current === undefined || tracked.some(({ slug }) => slug === current);
  const isLost = segments.data !== undefined && !isKnown;
  return (
    <div className="stack">
      <SelectField
        label="Segment"
        required
        value={value}
        problem={
          isLost ? 'This segment is not tracked or was renamed, so its events don’t start the workflow.' : problem
        }
        onChange={(event) => onChange(event.target.value)}
      >
        <option value="">Select one</option>
        {isKnown ? null : <option value={value}>{current}</option>}
        {tracked.map(({ slug, name }) => (
          <option key={slug} value={segmentEvent(slug, kind)}>
            {name}
          </option>
        ))}
      </SelectField>
      {segments.data && untracked > 0 ? (
        <p className="text-sm text-muted">
          {counted(untracked, 'segment')} not listed: a segment has events only while it tracks entries and exits. Turn
          that on in its{' '}
          <Link to="/app/$project/segments" params={{ project }}>
            settings
          </Link>
          .
        </p>
      ) : null}
      {segments.data?.length === 0 ? (
        <p className="text-sm text-muted">
          No segments yet.{' '}
          <Link to="/app/$project/segments" params={{ project }}>
            Create a segment
          </Link>{' '}
          that tracks entries and exits.
        </p>
      ) : null}
    </div>
  );
}

import { useQuery } from '@tanstack/react-query';
import { answer, api } from '../../../api/client.ts';
import { useProjectId } from '../../../app/address.ts';
import { newForm } from '../../../conditions/edits.ts';
import { type Tree, treeOf } from '../../../conditions/tree.ts';
import { Button } from '../../../ui/Button.tsx';
import { SelectField, TextField } from '../../../ui/Field.tsx';
import { EventDataField, EventField } from './EventField.tsx';
import { TreeField } from './forms/ConditionForm.tsx';
import type { Cause, Exit } from './settings.ts';

const mostExits = 20;
type CauseType = 'event' | 'condition' | 'leavesSegment';

function typeOf(on: Cause): CauseType {
  return on.condition ? 'condition' : typeof on.leavesSegment === 'string' ? 'leavesSegment' : 'event';
}

const emptyOf: Record<CauseType, () => Cause> = {
  event: () => ({ event: '' }),
  condition: () => ({ condition: treeOf(newForm()) }),
  leavesSegment: () => ({ leavesSegment: '' }),
};

/** Edits what ends executions early, whatever step they are at. */
export function ExitsField({
  exits,
  problemOf,
  onChange,
}: {
  exits: readonly Exit[];
  problemOf: (field: string) => string | undefined;
  onChange: (exits: Exit[]) => void;
}) {
  const put = (place: number, exit: Exit) => onChange(exits.map((each, n) => (n === place ? exit : each)));
  const add = () => {
    const n = Math.max(0, ...exits.map(({ id }) => Number(/^exit-(\d+)$/.exec(id)?.[1] ?? 0))) + 1;
    onChange([...exits, { id: `exit-${n}`, on: emptyOf.event(), reason: '' }]);
  };
  return (
    <>
      <h3>Ends when</h3>
      <p className="text-sm text-muted">
        The contact leaves the workflow, and emails of the run that are still queued are canceled. Events and segments
        end the run at once; conditions are checked before each email, webhook and contact update.
      </p>
      {exits.map((exit, n) => (
        <ExitField
          key={exit.id}
          title={`exit ${n + 1}`}
          exit={exit}
          problemOf={(field) => problemOf(`exits.${n}.${field}`)}
          onChange={(changed) => put(n, changed)}
          onRemove={() => onChange(exits.filter((_, place) => place !== n))}
        />
      ))}
      <Button size="small" disabled={exits.length >= mostExits} onClick={add}>
        Add exit
      </Button>
    </>
  );
}

function ExitField({
  title,
  exit,
  problemOf,
  onChange,
  onRemove,
}: {
  title: string;
  exit: Exit;
  problemOf: (field: string) => string | undefined;
  onChange: (exit: Exit) => void;
  onRemove: () => void;
}) {
  return (
    <fieldset className="field">
      <legend>{title.replace('exit', 'Exit')}</legend>
      <CauseFields on={exit.on} title={title} problemOf={problemOf} onChange={(on) => onChange({ ...exit, on })} />
      <TextField
        label={`Reason of ${title}`}
        hint="Shown for the contact and for canceled emails."
        required
        maxLength={200}
        value={exit.reason}
        problem={problemOf('reason')}
        onChange={({ target }) => onChange({ ...exit, reason: target.value })}
      />
      <Button size="small" onClick={onRemove}>
        Remove {title}
      </Button>
    </fieldset>
  );
}

/** The fields of what meets an exit or a goal. */
export function CauseFields({
  on,
  title,
  problemOf,
  onChange: setOn,
}: {
  on: Cause;
  title: string;
  problemOf: (field: string) => string | undefined;
  onChange: (on: Cause) => void;
}) {
  const cause = typeOf(on);
  return (
    <>
      <SelectField
        label={`Type of ${title}`}
        value={cause}
        problem={problemOf('on')}
        onChange={({ target }) => setOn(emptyOf[target.value as CauseType]())}
      >
        <option value="event">Event</option>
        <option value="condition">Condition</option>
        <option value="leavesSegment">Contact leaves a segment</option>
      </SelectField>
      {cause === 'event' ? (
        <>
          <EventField
            label={`Event of ${title}`}
            value={on.event ?? ''}
            problem={problemOf('on.event')}
            onChange={(event) => setOn({ ...on, event })}
          />
          <EventDataField
            where={on.where ?? null}
            problemOf={(field) => problemOf(`on.${field}`)}
            onChange={(where) => setOn({ event: on.event ?? '', ...(where ? { where } : {}) })}
          />
        </>
      ) : null}
      {cause === 'condition' ? (
        <TreeField tree={on.condition as Tree} onChange={(condition) => setOn({ condition })} />
      ) : null}
      {cause === 'leavesSegment' ? (
        <SegmentField
          label={`Segment of ${title}`}
          value={on.leavesSegment ?? ''}
          problem={problemOf('on.leavesSegment')}
          onChange={(leavesSegment) => setOn({ leavesSegment })}
        />
      ) : null}
    </>
  );
}

function SegmentField({
  label,
  value,
  problem,
  onChange,
}: {
  label: string;
  value: string;
  problem: string | undefined;
  onChange: (id: string) => void;
}) {
  const project = useProjectId();
  const segments = useQuery({ queryKey: ['segments', project], queryFn: () => answer(api.GET('/segments')) });
  const tracked = (segments.data ?? []).filter(({ trackMembership }) => trackMembership);
  return (
    <SelectField
      label={label}
      required
      hint="Segments that track entries and exits."
      value={value}
      problem={problem}
      onChange={({ target }) => onChange(target.value)}
    >
      <option value="">Select one</option>
      {tracked.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </SelectField>
  );
}

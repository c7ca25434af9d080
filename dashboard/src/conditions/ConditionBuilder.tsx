import { CopyPlus, ListTree, Plus, Trash2 } from 'lucide-react';
import { Button } from '../ui/Button.tsx';
import { inputClass } from '../ui/Field.tsx';
import { Note } from '../ui/States.tsx';
import { counted } from '../words/numbers.ts';
import { changeFilter, changeGroup, newFilter, newForm, newGroup } from './edits.ts';
import { FilterRow } from './FilterRow.tsx';
import { maxFilters, maxLevels } from './grammar.ts';
import { type FocusMove, useFocusMove } from './part.tsx';
import { type ConditionForm, type FormGroup, filtersIn } from './tree.ts';
import { useVocabulary, type Vocabulary } from './vocabulary.tsx';

/** A problem that the service found at one place of a condition. */
export interface PlacedProblem {
  path: string;
  message: string;
}

/** How many contacts match a group by itself, by the group's key; absent while that is not known. */
export type GroupCounts = ReadonlyMap<string, number>;

interface Shared extends FocusMove {
  known: Vocabulary;
  problem: PlacedProblem | null;
  counts: GroupCounts;
  isFull: boolean;
}

const noCounts: GroupCounts = new Map();
const addTo = ({ key }: { key: string }) => `add:${key}`;

/** Builds a condition out of groups and filters, nested as deep as the API allows. */
export function ConditionBuilder({
  form,
  problem,
  counts = noCounts,
  exceptSegment,
  hasTrigger,
  onChange,
}: {
  form: ConditionForm;
  problem: PlacedProblem | null;
  counts?: GroupCounts;
  /** A segment that cannot be asked about, because the condition is its own. */
  exceptSegment?: string | undefined;
  /** The condition is that of a workflow's step, which can use the data of the event that started it. */
  hasTrigger?: boolean | undefined;
  onChange: (form: ConditionForm) => void;
}) {
  const known = useVocabulary(exceptSegment, hasTrigger);
  const isFull = [...filtersIn(form)].length >= maxFilters;
  // To the filter of a key, or to the button that adds to the group or form of it.
  const { goTo, landing } = useFocusMove();
  const startOver = () => {
    const fresh = newForm(form.logic);
    goTo(firstFilter(fresh));
    return fresh;
  };
  return (
    <ConditionBox
      form={form}
      path=""
      level={1}
      shared={{ known, problem, counts, isFull, goTo, landing }}
      onChange={(next) => onChange(next ?? startOver())}
    />
  );
}

const firstFilter = (form: ConditionForm) => form.groups[0]?.filters[0]?.key;

function ConditionBox({
  form,
  path,
  level,
  shared,
  onChange,
}: {
  form: ConditionForm;
  path: string;
  level: number;
  shared: Shared;
  /** Null when nothing is left of it. */
  onChange: (form: ConditionForm | null) => void;
}) {
  const change = (next: ConditionForm) => onChange(next.groups.length === 0 ? null : next);
  const place = (index: number) => `${path === '' ? '' : `${path}.`}groups.${index}`;
  return (
    <fieldset className={`flex min-w-0 flex-col gap-3 ${level > 1 ? 'border-s-2 border-accent-line ps-3' : ''}`}>
      <legend className="sr-only">{level === 1 ? 'Condition' : `Nested condition, level ${level}`}</legend>
      <div className="row">
        <span>{level === 1 ? 'Match' : 'and match'}</span>
        <select
          className={`${inputClass} w-auto!`}
          aria-label={level === 1 ? 'Match groups' : `Match groups of level ${level}`}
          value={form.logic}
          onChange={(event) => onChange({ ...form, logic: event.target.value === 'OR' ? 'OR' : 'AND' })}
        >
          <option value="AND">all groups</option>
          <option value="OR">any group</option>
        </select>
      </div>
      {form.groups.map((group, index) => (
        <div key={group.key} className="flex flex-col gap-2">
          {index > 0 ? <span className="text-sm text-muted">{form.logic === 'AND' ? 'and' : 'or'}</span> : null}
          <GroupBox
            group={group}
            path={place(index)}
            number={index + 1}
            level={level}
            shared={shared}
            onChange={(next) => {
              if (next === null) shared.goTo(addTo(form));
              change(changeGroup(form, group.key, () => next));
            }}
          />
        </div>
      ))}
      <div className="row">
        <Button
          size="small"
          ref={shared.landing(addTo(form))}
          disabled={shared.isFull}
          onClick={() => {
            const group = newGroup();
            shared.goTo(group.filters[0]?.key);
            onChange({ ...form, groups: [...form.groups, group] });
          }}
        >
          <CopyPlus aria-hidden /> Add group
        </Button>
        {level > 1 ? (
          <Button size="small" variant="plain" onClick={() => onChange(null)}>
            <Trash2 aria-hidden /> Remove nested conditions
          </Button>
        ) : null}
      </div>
    </fieldset>
  );
}

function GroupBox({
  group,
  path,
  number,
  level,
  shared,
  onChange,
}: {
  group: FormGroup;
  path: string;
  number: number;
  level: number;
  shared: Shared;
  /** Null when nothing is left of it. */
  onChange: (group: FormGroup | null) => void;
}) {
  const { known, problem, goTo, landing } = shared;
  const change = (next: FormGroup) => onChange(next.filters.length === 0 && next.nested === null ? null : next);
  const matching = shared.counts.get(group.key);
  const changeNested = (nested: ConditionForm | null) => {
    if (nested === null) goTo(addTo(group));
    change({ ...group, nested });
  };
  return (
    <fieldset
      className={`flex min-w-0 flex-col gap-3 rounded-lg border border-edge p-3 ${level % 2 === 0 ? 'bg-surface' : 'bg-sunken'}`}
    >
      <legend className="px-1 text-xs font-medium text-muted">
        Group {number}
        {level > 1 ? `, level ${level}` : ''}
      </legend>
      {matching === undefined ? null : (
        <p className="text-sm text-muted" data-slot="group-count">
          {counted(matching, 'contact')} {matching === 1 ? 'matches' : 'match'} this group
        </p>
      )}
      {problem?.path === path ? <Note tone="bad">{problem.message}</Note> : null}
      {group.filters.map((filter, index) => (
        <FilterRow
          key={filter.key}
          filter={filter}
          name={`Filter ${index + 1} of group ${number}${level > 1 ? `, level ${level}` : ''}`}
          joint={index > 0 ? 'and' : level > 1 ? null : number > 1 ? 'contacts' : 'Contacts'}
          known={known}
          problem={isAt(problem, `${path}.filters.${index}`) ? (problem?.message ?? null) : null}
          focus={landing(filter.key)}
          onChange={(next) => {
            if (next === null) goTo((group.filters[index + 1] ?? group.filters[index - 1])?.key ?? addTo(group));
            change(changeFilter(group, filter.key, next));
          }}
        />
      ))}
      {group.nested ? (
        <ConditionBox
          form={group.nested}
          path={`${path}.conditions`}
          level={level + 1}
          shared={shared}
          onChange={changeNested}
        />
      ) : null}
      <GroupActions group={group} level={level} shared={shared} onChange={onChange} />
    </fieldset>
  );
}

function GroupActions({
  group,
  level,
  shared: { isFull, goTo, landing },
  onChange,
}: {
  group: FormGroup;
  level: number;
  shared: Shared;
  /** Null when nothing is left of it. */
  onChange: (group: FormGroup | null) => void;
}) {
  return (
    <div className="row">
      <Button
        size="small"
        ref={landing(addTo(group))}
        disabled={isFull}
        onClick={() => {
          const filter = newFilter();
          goTo(filter.key);
          onChange({ ...group, filters: [...group.filters, filter] });
        }}
      >
        <Plus aria-hidden /> Add filter
      </Button>
      {group.nested === null && level < maxLevels ? (
        <Button
          size="small"
          disabled={isFull}
          onClick={() => {
            const nested = newForm('OR');
            goTo(firstFilter(nested));
            onChange({ ...group, nested });
          }}
        >
          <ListTree aria-hidden /> Add nested conditions
        </Button>
      ) : null}
      <Button size="small" variant="plain" onClick={() => onChange(null)}>
        <Trash2 aria-hidden /> Remove group
      </Button>
    </div>
  );
}

function isAt(problem: PlacedProblem | null, path: string): boolean {
  return problem !== null && (problem.path === path || problem.path.startsWith(`${path}.`));
}

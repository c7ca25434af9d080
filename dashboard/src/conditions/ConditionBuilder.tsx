import { CopyPlus, ListTree, Plus, Trash2 } from 'lucide-react';
import { Button } from '../ui/Button.tsx';
import { inputClass } from '../ui/Field.tsx';
import { Note } from '../ui/States.tsx';
import { changeFilter, changeGroup, newFilter, newForm, newGroup } from './edits.ts';
import { FilterRow } from './FilterRow.tsx';
import { maxFilters, maxLevels } from './grammar.ts';
import { type Form, type FormGroup, filtersIn } from './tree.ts';
import { useVocabulary, type Vocabulary } from './vocabulary.tsx';

/** What the service says about one place of a condition. */
export interface PlacedProblem {
  path: string;
  message: string;
}

interface Shared {
  known: Vocabulary;
  problem: PlacedProblem | null;
  isFull: boolean;
}

/** Builds a condition out of groups and filters, nested as deep as the API allows. */
export function ConditionBuilder({
  form,
  problem,
  exceptSegment,
  onChange,
}: {
  form: Form;
  problem: PlacedProblem | null;
  /** A segment that cannot be asked about, because the condition is its own. */
  exceptSegment?: string | undefined;
  onChange: (form: Form) => void;
}) {
  const known = useVocabulary(exceptSegment);
  const isFull = [...filtersIn(form)].length >= maxFilters;
  return (
    <ConditionBox
      form={form}
      path=""
      level={1}
      shared={{ known, problem, isFull }}
      onChange={(next) => onChange(next ?? newForm(form.logic))}
    />
  );
}

function ConditionBox({
  form,
  path,
  level,
  shared,
  onChange,
}: {
  form: Form;
  path: string;
  level: number;
  shared: Shared;
  /** Null when nothing is left of it. */
  onChange: (form: Form | null) => void;
}) {
  const change = (next: Form) => onChange(next.groups.length === 0 ? null : next);
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
            onChange={(next) => change(changeGroup(form, group.key, () => next))}
          />
        </div>
      ))}
      <div className="row">
        <Button
          size="small"
          disabled={shared.isFull}
          onClick={() => onChange({ ...form, groups: [...form.groups, newGroup()] })}
        >
          <CopyPlus aria-hidden /> Add group
        </Button>
        {level > 1 ? (
          <Button size="small" look="plain" onClick={() => onChange(null)}>
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
  const { known, problem, isFull } = shared;
  const change = (next: FormGroup) => onChange(next.filters.length === 0 && next.nested === null ? null : next);
  return (
    <fieldset
      className={`flex min-w-0 flex-col gap-3 rounded-lg border border-edge p-3 ${level % 2 === 0 ? 'bg-surface' : 'bg-sunken'}`}
    >
      <legend className="px-1 text-xs font-medium text-muted">
        Group {number}
        {level > 1 ? `, level ${level}` : ''}
      </legend>
      {problem?.path === path ? <Note tone="bad">{problem.message}</Note> : null}
      {group.filters.map((filter, index) => (
        <FilterRow
          key={filter.key}
          filter={filter}
          name={`Filter ${index + 1} of group ${number}${level > 1 ? `, level ${level}` : ''}`}
          joint={index > 0 ? 'and' : null}
          known={known}
          problem={isAt(problem, `${path}.filters.${index}`) ? (problem?.message ?? null) : null}
          onChange={(next) => change(changeFilter(group, filter.key, next))}
        />
      ))}
      {group.nested ? (
        <ConditionBox
          form={group.nested}
          path={`${path}.conditions`}
          level={level + 1}
          shared={shared}
          onChange={(nested) => change({ ...group, nested })}
        />
      ) : null}
      <div className="row">
        <Button
          size="small"
          disabled={isFull}
          onClick={() => onChange({ ...group, filters: [...group.filters, newFilter()] })}
        >
          <Plus aria-hidden /> Add filter
        </Button>
        {group.nested === null && level < maxLevels ? (
          <Button size="small" disabled={isFull} onClick={() => onChange({ ...group, nested: newForm('OR') })}>
            <ListTree aria-hidden /> Add nested conditions
          </Button>
        ) : null}
        <Button size="small" look="plain" onClick={() => onChange(null)}>
          <Trash2 aria-hidden /> Remove group
        </Button>
      </div>
    </fieldset>
  );
}

function isAt(problem: PlacedProblem | null, path: string): boolean {
  return problem !== null && (problem.path === path || problem.path.startsWith(`${path}.`));
}

import { X } from 'lucide-react';
import { useId } from 'react';
import { usePart } from '../standby/use-part.ts';
import { Button } from '../ui/Button.tsx';
import { eventText } from '../words/events.ts';
import { withActivity, withDataKey, withKind, withOperator } from './edits.ts';
import {
  activityNames,
  type FieldKind,
  kindNames,
  needsOf,
  operatorName,
  operatorsOf,
  typesFor,
  usualActivity,
} from './grammar.ts';
import { partClass } from './part.tsx';
import type { FormFilter } from './tree.ts';
import { ValueField } from './ValueField.tsx';
import type { Vocabulary } from './vocabulary.tsx';

const loadNarrowing = () => import('./Narrowing.tsx');

/** One filter: what it is about, how it compares, and with what. */
export function FilterRow({
  filter,
  name,
  joint,
  known,
  problem,
  focus,
  onChange,
}: {
  filter: FormFilter;
  /** Label that distinguishes this filter from the others. */
  name: string;
  joint: string | null;
  known: Vocabulary;
  problem: string | null;
  /** Gets the first control of the filter. */
  focus: (control: HTMLElement | null) => void;
  /** Null takes the filter out. */
  onChange: (filter: FormFilter | null) => void;
}) {
  const problemId = useId();
  const operators = operatorsOf[filter.kind];
  const isDate = filter.kind === 'createdAt' || filter.kind === 'updatedAt';
  const nameField = <NameField filter={filter} known={known} onChange={onChange} />;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a legend cannot stand in the row with its controls
    <div
      className="flex flex-col gap-1"
      role="group"
      aria-label={name}
      aria-describedby={problem ? problemId : undefined}
    >
      {joint ? <span className="text-sm text-muted">{joint}</span> : null}
      <div className="flex flex-wrap items-center gap-2">
        <select
          ref={focus}
          className={partClass('flex-[1_1_11rem]')}
          aria-label="Filter by"
          value={filter.kind}
          onChange={(event) => onChange(withKind(filter, event.target.value as FieldKind))}
        >
          {Object.entries(kindNames).map(([kind, title]) =>
            kind === 'trigger' && !known.hasTrigger && filter.kind !== 'trigger' ? null : (
              <option key={kind} value={kind}>
                {title}
              </option>
            ),
          )}
        </select>
        {/* “whose segments include …”: what it is about comes last. */}
        {filter.kind === 'segment' ? null : nameField}
        <select
          className={partClass()}
          aria-label="Operator"
          value={filter.operator}
          onChange={(event) => onChange(withOperator(filter, event.target.value))}
        >
          {operators.map((operator) => (
            <option key={operator} value={operator}>
              {operatorName(operator, isDate ? 'day' : (typesFor(filter.kind, operator)[0] ?? 'text'))}
            </option>
          ))}
        </select>
        {filter.kind === 'segment' ? nameField : null}
        {needsOf(filter.operator) === 'nothing' ? null : (
          <ValueField filter={filter} known={known} isRefused={problem !== null} onChange={onChange} />
        )}
        <Button size="small" variant="plain" aria-label={`Remove ${name.toLowerCase()}`} onClick={() => onChange(null)}>
          <X aria-hidden />
        </Button>
      </div>
      <More filter={filter} known={known} onChange={onChange} />
      {problem ? (
        <p className="text-sm text-bad" id={problemId} role="alert">
          {problem}
        </p>
      ) : null}
    </div>
  );
}

interface Part {
  filter: FormFilter;
  known: Vocabulary;
  onChange: (filter: FormFilter) => void;
}

function More({ filter, ...rest }: Part) {
  const canNarrow = filter.kind === 'event' || filter.kind === 'activity';
  const part = usePart(loadNarrowing, canNarrow);
  return canNarrow && part ? <part.Narrowing filter={filter} {...rest} /> : null;
}

function NameField({ filter, known, onChange }: Part) {
  const list = useId();
  const { kind, name } = filter;
  if (kind === 'activity') {
    return (
      <select
        className={partClass()}
        aria-label="Email activity"
        value={usualActivity(name)}
        onChange={(event) => onChange(withActivity(filter, event.target.value))}
      >
        {Object.entries(activityNames).map(([value, title]) => (
          <option key={value} value={value}>
            {title}
          </option>
        ))}
      </select>
    );
  }
  if (kind === 'segment') {
    const chosen = name.toLowerCase();
    const isKnown = known.segments.some(({ id }) => id === chosen);
    return (
      <select
        className={partClass()}
        aria-label="Segment"
        value={chosen}
        onChange={(event) => onChange({ ...filter, name: event.target.value })}
      >
        <option value="" disabled>
          Select a segment
        </option>
        {known.segments.map((segment) => (
          <option key={segment.id} value={segment.id}>
            {segment.name}
          </option>
        ))}
        {isKnown || chosen === '' ? null : <option value={chosen}>{chosen} (not in this project)</option>}
      </select>
    );
  }
  if (kind !== 'data' && kind !== 'trigger' && kind !== 'event') return null;
  const isData = kind !== 'event';
  const options = kind === 'data' ? [...known.dataTypes.keys()] : isData ? [] : known.events;
  return (
    <>
      <input
        className={partClass()}
        dir="auto"
        aria-label={isData ? 'Field name' : 'Event name'}
        placeholder={kind === 'data' ? 'plan' : isData ? 'total' : 'purchase'}
        list={list}
        maxLength={isData ? undefined : 200}
        value={name}
        onChange={({ target: { value } }) =>
          onChange(
            kind === 'data'
              ? withDataKey(filter, value, known.dataTypes.get(value))
              : { ...filter, name: value, isBare: false },
          )
        }
      />
      <datalist id={list}>
        {options.map((option) => (
          <option key={option} value={option} label={isData ? undefined : eventText(option)} />
        ))}
      </datalist>
    </>
  );
}

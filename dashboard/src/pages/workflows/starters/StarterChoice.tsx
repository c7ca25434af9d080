import type { Starter } from '../graph/starters/parts.ts';
import { starters } from '../graph/starters/starters.ts';

/** Chooses what a new workflow begins with: nothing, or a starter. */
export function StarterChoice({
  value,
  onChange,
}: {
  value: Starter | null;
  onChange: (starter: Starter | null) => void;
}) {
  return (
    <fieldset className="field">
      <legend className="text-sm font-medium">Start from</legend>
      <div className="mt-1 grid grid-cols-1 gap-2 sm:grid-cols-2">
        <Card
          name="Empty workflow"
          about="Only the trigger. You add every step."
          isChosen={value === null}
          onChoose={() => onChange(null)}
        />
        {starters.map((starter) => (
          <Card
            key={starter.id}
            name={starter.name}
            about={starter.about}
            isChosen={value?.id === starter.id}
            onChoose={() => onChange(starter)}
          />
        ))}
      </div>
    </fieldset>
  );
}

function Card({
  name,
  about,
  isChosen,
  onChoose,
}: {
  name: string;
  about: string;
  isChosen: boolean;
  onChoose: () => void;
}) {
  return (
    <label className="relative flex cursor-pointer flex-col rounded-md border border-control bg-surface px-3 py-2 hover:bg-hover has-checked:border-accent has-checked:ring-1 has-checked:ring-accent has-focus-visible:outline-3 has-focus-visible:outline-focus">
      <input type="radio" name="starter" className="sr-only" checked={isChosen} onChange={onChoose} />
      <span className="font-medium">{name}</span>
      <span className="text-sm text-muted">{about}</span>
    </label>
  );
}

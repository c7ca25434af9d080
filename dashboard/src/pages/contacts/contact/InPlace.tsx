import { Check, Pencil, X } from 'lucide-react';
import { type FormEvent, type KeyboardEvent, useRef, useState } from 'react';
import { Address } from '../../../ui/Address.tsx';
import { Button } from '../../../ui/Button.tsx';
import { inputClass } from '../../../ui/Field.tsx';

/** A value with a button that turns it into a field: Enter saves, Escape leaves it as it was. */
export function InPlace({
  label,
  value,
  type = 'text',
  onSave,
}: {
  label: string;
  value: string;
  type?: 'text' | 'email';
  /** Rejects where the value stays to be edited. */
  onSave: (value: string) => Promise<unknown>;
}) {
  const [text, setText] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const pencil = useRef<HTMLSpanElement>(null);
  const leave = () => {
    setText(null);
    requestAnimationFrame(() => pencil.current?.querySelector('button')?.focus());
  };
  const save = async (event: FormEvent) => {
    event.preventDefault();
    if (text === null || text === value) return leave();
    setBusy(true);
    await onSave(text).then(leave, () => undefined);
    setBusy(false);
  };
  if (text === null)
    return (
      <span className="inline-flex items-center gap-1" ref={pencil}>
        <span className="break" dir="auto">
          {type === 'email' ? <Address>{value}</Address> : value}
        </span>
        <Button size="small" variant="plain" aria-label={`Edit ${label.toLowerCase()}`} onClick={() => setText(value)}>
          <Pencil aria-hidden />
        </Button>
      </span>
    );
  const keys = (event: KeyboardEvent) => {
    if (event.key === 'Escape') leave();
  };
  return (
    <form className="flex flex-wrap items-center gap-1" onSubmit={save}>
      <input
        className={`${inputClass} w-auto! min-w-0 flex-1`}
        aria-label={label}
        dir="auto"
        type={type}
        required
        // biome-ignore lint/a11y/noAutofocus: the field takes the place of the button that was pressed
        autoFocus
        value={text}
        onKeyDown={keys}
        onChange={({ target }) => setText(target.value)}
      />
      <Button size="small" type="submit" busy={isBusy} aria-label={`Save ${label.toLowerCase()}`}>
        <Check aria-hidden />
      </Button>
      <Button size="small" variant="plain" aria-label="Keep as it was" onClick={leave}>
        <X aria-hidden />
      </Button>
    </form>
  );
}

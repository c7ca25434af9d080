import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from 'react';

/** Classes of a field to type or choose in. */
export const inputClass =
  'w-full min-h-8 rounded-md border border-control bg-surface px-2.5 py-1 text-base text-ink placeholder:text-muted disabled:cursor-not-allowed disabled:bg-sunken disabled:text-muted aria-invalid:border-bad [textarea&]:min-h-24 [textarea&]:resize-y';

interface Around {
  label: string;
  /** Said below the label, before anything is wrong. */
  hint?: ReactNode;
  /** The problem with the value, as given by the service or the form. */
  problem?: string | undefined;
}

/** What stands around a field: its label, hint and problem, and what ties them to it. */
export function Field({ label, hint, problem, children }: Around & { children: (props: Described) => ReactNode }) {
  const id = useId();
  const described = [hint ? `${id}-hint` : '', problem ? `${id}-problem` : ''].filter(Boolean).join(' ') || undefined;
  return (
    <div className="field">
      <label className="text-sm font-medium" htmlFor={id}>
        {label}
      </label>
      {hint ? (
        <span className="text-sm text-muted" id={`${id}-hint`}>
          {hint}
        </span>
      ) : null}
      {children({
        id,
        'aria-describedby': described,
        'aria-invalid': problem ? true : undefined,
        className: inputClass,
      })}
      {problem ? (
        <span className="text-sm text-bad" id={`${id}-problem`} role="alert">
          {problem}
        </span>
      ) : null}
    </div>
  );
}

interface Described {
  id: string;
  className: string;
  'aria-describedby': string | undefined;
  'aria-invalid': true | undefined;
}

/** A line of text with its label, hint and problem. */
export function TextField({ label, hint, problem, ...rest }: Around & InputHTMLAttributes<HTMLInputElement>) {
  return (
    <Field label={label} hint={hint} problem={problem}>
      {(props) => <input dir="auto" {...rest} {...props} />}
    </Field>
  );
}

/** Several lines of text. */
export function TextArea({ label, hint, problem, ...rest }: Around & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  return (
    <Field label={label} hint={hint} problem={problem}>
      {(props) => <textarea dir="auto" {...rest} {...props} />}
    </Field>
  );
}

/** One of a few values; the children are options. */
export function SelectField({ label, hint, problem, ...rest }: Around & SelectHTMLAttributes<HTMLSelectElement>) {
  return (
    <Field label={label} hint={hint} problem={problem}>
      {(props) => <select {...rest} {...props} />}
    </Field>
  );
}

/** Yes or no. */
export function CheckField({
  label,
  hint,
  ...rest
}: { label: ReactNode; hint?: ReactNode } & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId();
  return (
    <div className="flex items-start gap-2">
      <input
        type="checkbox"
        className="mt-0.5 size-4 shrink-0"
        id={id}
        aria-describedby={hint ? `${id}-hint` : undefined}
        {...rest}
      />
      <div>
        <label className="font-medium" htmlFor={id}>
          {label}
        </label>
        {hint ? (
          <div className="text-sm text-muted" id={`${id}-hint`}>
            {hint}
          </div>
        ) : null}
      </div>
    </div>
  );
}

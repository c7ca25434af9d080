import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from 'react';

interface Around {
  label: string;
  /** Said below the label, before anything is wrong. */
  hint?: ReactNode;
  /** What is wrong with the value, as the service or the form says it. */
  problem?: string | undefined;
}

function Wrapped({ label, hint, problem, children }: Around & { children: (props: Described) => ReactNode }) {
  const id = useId();
  const described = [hint ? `${id}-hint` : '', problem ? `${id}-problem` : ''].filter(Boolean).join(' ') || undefined;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {hint ? (
        <span className="hint" id={`${id}-hint`}>
          {hint}
        </span>
      ) : null}
      {children({ id, 'aria-describedby': described, 'aria-invalid': problem ? true : undefined, className: 'input' })}
      {problem ? (
        <span className="problem" id={`${id}-problem`} role="alert">
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
    <Wrapped label={label} hint={hint} problem={problem}>
      {(props) => <input dir="auto" {...rest} {...props} />}
    </Wrapped>
  );
}

/** Several lines of text. */
export function TextArea({ label, hint, problem, ...rest }: Around & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  return (
    <Wrapped label={label} hint={hint} problem={problem}>
      {(props) => <textarea dir="auto" {...rest} {...props} />}
    </Wrapped>
  );
}

/** One of a few values; the children are options. */
export function SelectField({ label, hint, problem, ...rest }: Around & SelectHTMLAttributes<HTMLSelectElement>) {
  return (
    <Wrapped label={label} hint={hint} problem={problem}>
      {(props) => <select {...rest} {...props} />}
    </Wrapped>
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
    <div className="check">
      <input type="checkbox" id={id} aria-describedby={hint ? `${id}-hint` : undefined} {...rest} />
      <div>
        <label htmlFor={id}>{label}</label>
        {hint ? (
          <div className="muted" id={`${id}-hint`}>
            {hint}
          </div>
        ) : null}
      </div>
    </div>
  );
}

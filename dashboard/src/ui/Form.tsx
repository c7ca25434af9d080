import type { FormEvent, FormHTMLAttributes } from 'react';
import { ApiError } from '../api/errors.ts';
import { Problem } from './States.tsx';

/** A form that does its work in the page and not by loading another. */
export function Form({
  onSubmit,
  className = 'stack',
  ...rest
}: Omit<FormHTMLAttributes<HTMLFormElement>, 'onSubmit'> & { onSubmit: () => void }) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit();
  };
  return <form className={className} onSubmit={submit} {...rest} />;
}

/** Returns the problem of a field, if the service has refused it. */
export function problemOf(error: unknown, field: string): string | undefined {
  return error instanceof ApiError ? error.problemOf(field) : undefined;
}

/** Shows the problem of a form, unless all of it is shown beside its fields, which are `fields`. */
export function FormProblem({ error, fields }: { error: unknown; fields: readonly string[] }) {
  const result = error instanceof ApiError ? error.fields : [];
  const isSaidBeside = result.length > 0 && result.every(({ field }) => fields.includes(field));
  return error && !isSaidBeside ? <Problem error={error} /> : null;
}

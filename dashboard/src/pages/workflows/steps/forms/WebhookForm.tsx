import { CheckField, SelectField, TextArea, TextField } from '../../../../ui/Field.tsx';
import { parsedBody, shownBody } from '../../graph/draft.ts';
import { type Form, set, text } from './form.ts';
import { Rows } from './Rows.tsx';

const LineValue = ({
  label,
  value,
  onChange,
}: {
  label: string;
  value: unknown;
  onChange: (value: unknown) => void;
}) => <TextField label={label} value={text(value)} onChange={(event) => onChange(event.target.value)} />;

export function WebhookForm(form: Form) {
  const { config } = form.draft;
  const bodyText = shownBody(form.draft);
  const write = (typed: string) => {
    const body = parsedBody(typed);
    const { body: _, ...rest } = config;
    const parsed = body === undefined ? {} : { config: body === null ? rest : { ...rest, body } };
    form.onChange({ bodyText: typed, ...parsed });
  };
  const headers = Object.entries((config.headers ?? {}) as Record<string, unknown>);
  return (
    <>
      <TextField
        label="Address"
        type="text"
        inputMode="url"
        hint="Path and query can contain Liquid, such as {{data.region}}."
        value={text(config.url)}
        problem={form.problemOf('url')}
        onChange={(event) => set(form, { url: event.target.value })}
      />
      <SelectField
        label="Method"
        value={text(config.method) || 'POST'}
        problem={form.problemOf('method')}
        onChange={(event) => set(form, { method: event.target.value })}
      >
        {['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map((method) => (
          <option key={method}>{method}</option>
        ))}
      </SelectField>
      <Rows
        rows={headers}
        of="Header"
        value={LineValue}
        onChange={(rows) => set(form, { headers: rows.length > 0 ? Object.fromEntries(rows) : undefined })}
      />
      <TextArea
        label="Body (JSON)"
        hint="Leave empty to send the contact, workflow, run and event."
        spellCheck={false}
        dir="ltr"
        value={bodyText}
        problem={form.problemOf('body') ?? (parsedBody(bodyText) === undefined ? 'Enter valid JSON.' : undefined)}
        onChange={(event) => write(event.target.value)}
      />
      <CheckField
        label="Fail the run if the request fails"
        checked={config.failOnError === true}
        onChange={(event) => set(form, { failOnError: event.target.checked ? true : undefined })}
      />
      <TextField
        label="Retries"
        type="number"
        min="0"
        max="5"
        value={text(config.retries ?? 0)}
        problem={form.problemOf('retries')}
        onChange={(event) => set(form, { retries: Number(event.target.value) || undefined })}
      />
    </>
  );
}

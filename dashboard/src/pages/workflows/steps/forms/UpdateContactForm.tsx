import { SelectField } from '../../../../ui/Field.tsx';
import { TypedValueField } from '../values.tsx';
import { type Form, set, text } from './form.ts';
import { Rows } from './Rows.tsx';

const FieldValue = (props: { label: string; value: unknown; onChange: (value: unknown) => void }) => (
  <TypedValueField {...props} nothing="Remove the field" />
);

export function UpdateContactForm(form: Form) {
  const { data, updates = data, ...config } = form.draft.config;
  const rows = Object.entries((updates ?? {}) as Record<string, unknown>);
  return (
    <>
      <Rows
        rows={rows}
        of="Field"
        value={FieldValue}
        onChange={(next) => form.onChange({ config: { ...config, updates: Object.fromEntries(next) } })}
      />
      <SelectField
        label="Subscription"
        value={text(config.subscriptionAction) || 'none'}
        problem={form.problemOf('subscriptionAction')}
        onChange={(event) => set(form, { subscriptionAction: event.target.value })}
      >
        <option value="none">Don’t change</option>
        <option value="subscribe">Subscribe</option>
        <option value="unsubscribe">Unsubscribe</option>
      </SelectField>
    </>
  );
}

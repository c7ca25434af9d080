import { TextField } from '../../../../ui/Field.tsx';
import type { StepType } from '../../graph/shapes.ts';
import { ConditionForm } from './ConditionForm.tsx';
import { type Form, set, text } from './form.ts';
import { SendEmailForm } from './SendEmailForm.tsx';
import { SplitForm } from './SplitForm.tsx';
import { UpdateContactForm } from './UpdateContactForm.tsx';
import { DelayForm, WaitForEventForm } from './WaitingForms.tsx';
import { WaitUntilForm } from './WaitUntilForm.tsx';
import { WebhookForm } from './WebhookForm.tsx';

/** The config of a step, by its type. */
export function ConfigForm({ type, ...form }: Form & { type: Exclude<StepType, 'TRIGGER'> }) {
  const Own = forms[type];
  return <Own {...form} />;
}

function ExitForm(form: Form) {
  return (
    <TextField
      label="Reason"
      hint="Shown on runs that end here."
      maxLength={200}
      value={text(form.draft.config.reason)}
      problem={form.problemOf('reason')}
      onChange={(event) => set(form, { reason: event.target.value || undefined })}
    />
  );
}

const forms = {
  SEND_EMAIL: SendEmailForm,
  DELAY: DelayForm,
  WAIT_FOR_EVENT: WaitForEventForm,
  WAIT_UNTIL: WaitUntilForm,
  CONDITION: ConditionForm,
  SPLIT: SplitForm,
  WEBHOOK: WebhookForm,
  UPDATE_CONTACT: UpdateContactForm,
  EXIT: ExitForm,
};

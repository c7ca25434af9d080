import type { ApiError } from '../../api/errors.ts';
import { SelectField, TextField } from '../../ui/Field.tsx';
import { type MailContent, mailTypes } from './content.ts';
import { MailBody } from './MailBody.tsx';
import { VariableField } from './VariableField.tsx';

/** The fields of a message: who it is from, what it says, and what kind it is. */
export function MailForm({
  content,
  onChange,
  refused,
  generation,
}: {
  content: MailContent;
  onChange: (change: Partial<MailContent>) => void;
  refused: ApiError | null;
  /** Changes whenever the content came from elsewhere than this form. */
  generation: number;
}) {
  const field = (key: 'name' | 'from' | 'fromName' | 'replyTo') => ({
    value: content[key],
    problem: refused?.problemOf(key),
    onChange: (event: { target: { value: string } }) => onChange({ [key]: event.target.value }),
  });
  return (
    <div className="stack">
      <TextField label="Name" hint="For your team. Recipients never see it." required {...field('name')} />
      <div className="stretch">
        <TextField
          label="From"
          type="email"
          required
          placeholder="news@example.com"
          hint="An address on a verified domain."
          {...field('from')}
        />
        <TextField label="From name" placeholder="Project name" {...field('fromName')} />
        <TextField label="Reply-to" type="email" placeholder="From address" {...field('replyTo')} />
      </div>
      <SelectField
        label="Type"
        value={content.type}
        onChange={(event) => onChange({ type: event.target.value as MailContent['type'] })}
      >
        {Object.entries(mailTypes).map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </SelectField>
      <VariableField
        label="Subject"
        required
        value={content.subject}
        problem={refused?.problemOf('subject')}
        onText={(subject) => onChange({ subject })}
      />
      <MailBody key={generation} content={content} problem={refused?.problemOf('body')} onChange={onChange} />
    </div>
  );
}

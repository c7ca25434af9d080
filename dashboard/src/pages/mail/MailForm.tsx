import type { ApiError } from '../../api/errors.ts';
import { SelectField, TextField } from '../../ui/Field.tsx';
import { type MailContent, mailTypes } from './content.ts';
import { MailBody } from './MailBody.tsx';
import { MailPreview } from './MailPreview.tsx';
import { SenderField } from './SenderField.tsx';
import { PreheaderField, VariableField } from './VariableField.tsx';

/** A message on the page of its own: its settings in a compact head, below them what it says, and the preview where it is open. */
export function MailForm({
  content,
  email,
  onChange,
  refused,
  generation,
  isPreviewed,
}: {
  content: MailContent;
  /** Names the message for what can be undone after a reload. */
  email: string;
  onChange: (change: Partial<MailContent>) => void;
  refused: ApiError | null;
  /** Changes whenever the content came from elsewhere than this form. */
  generation: number;
  isPreviewed: boolean;
}) {
  const field = (key: 'fromName' | 'replyTo') => ({
    value: content[key],
    problem: refused?.problemOf(key),
    onChange: (event: { target: { value: string } }) => onChange({ [key]: event.target.value }),
  });
  return (
    <>
      <div className="mail-head">
        <SenderField
          value={content.from}
          problem={refused?.problemOf('from')}
          onChange={(from) => onChange({ from })}
        />
        <TextField label="From name" placeholder="Project name" {...field('fromName')} />
        <TextField label="Reply-to" type="email" placeholder="From address" {...field('replyTo')} />
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
        <PreheaderField document={content.document} onChange={onChange} />
      </div>
      <MailBody
        key={generation}
        content={content}
        email={email}
        problem={refused?.problemOf('body')}
        onChange={onChange}
        preview={isPreviewed ? <MailPreview content={content} /> : null}
      />
    </>
  );
}

import { useQuery } from '@tanstack/react-query';
import { ImagePlus } from 'lucide-react';
import { lazy, Suspense, useRef, useState } from 'react';
import { answer, api } from '../../api/client.ts';
import type { ApiError } from '../../api/errors.ts';
import { loaded } from '../../api/load.ts';
import { useProjectId } from '../../app/address.ts';
import { Button } from '../../ui/Button.tsx';
import type { Insert } from '../../ui/CodeEditor.tsx';
import { SelectField, TextField } from '../../ui/Field.tsx';
import { Loading } from '../../ui/States.tsx';
import { type MailContent, mailTypes } from './content.ts';
import { ImageDialog } from './ImageDialog.tsx';

const CodeEditor = lazy(() =>
  loaded(() => import('../../ui/CodeEditor.tsx')).then(({ CodeEditor: editor }) => ({ default: editor })),
);
const always = ['email', 'unsubscribeUrl', 'subscribeUrl', 'manageUrl'];

/** The fields of a message: who it is from, what it says, and what kind it is. */
export function MailForm({
  content,
  onChange,
  refused,
  isFixed = false,
}: {
  content: MailContent;
  onChange: (change: Partial<MailContent>) => void;
  refused: ApiError | null;
  /** Set once it can no longer be changed. */
  isFixed?: boolean;
}) {
  const project = useProjectId();
  const insert = useRef<Insert | null>(null);
  const [picturing, setPicturing] = useState(false);
  const fields = useQuery({
    queryKey: ['fields', project],
    queryFn: () => answer(api.GET('/contacts/fields')),
  });
  const variables = [
    ...(fields.data?.fields ?? []).filter(({ isCustom }) => isCustom).map(({ field }) => field.replace(/^data\./, '')),
    ...always,
  ];
  const field = (key: 'name' | 'subject' | 'from' | 'fromName' | 'replyTo') => ({
    value: content[key],
    problem: refused?.problemOf(key),
    disabled: isFixed,
    onChange: (event: { target: { value: string } }) => onChange({ [key]: event.target.value }),
  });
  return (
    <div className="stack">
      <TextField label="Name" hint="For your team; recipients never see it." required {...field('name')} />
      <div className="stretch">
        <TextField
          label="From"
          type="email"
          required
          placeholder="news@example.com"
          hint="On a domain that is verified under Domains."
          {...field('from')}
        />
        <TextField label="Sender’s name" placeholder="The name of the project" {...field('fromName')} />
        <TextField label="Replies go to" type="email" placeholder="The sender" {...field('replyTo')} />
      </div>
      <SelectField
        label="Kind"
        value={content.type}
        disabled={isFixed}
        onChange={(event) => onChange({ type: event.target.value as MailContent['type'] })}
      >
        {Object.entries(mailTypes).map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </SelectField>
      <TextField label="Subject" required {...field('subject')} />
      <div className="field">
        <div className="row">
          <span>Body: HTML with Liquid. Type {'{{'} for what is known of contacts.</span>
          {isFixed ? null : (
            <Button size="small" onClick={() => setPicturing(true)}>
              <ImagePlus aria-hidden /> Insert a picture
            </Button>
          )}
        </div>
        {picturing ? (
          <ImageDialog onInsert={(tag) => insert.current?.(tag)} onClose={() => setPicturing(false)} />
        ) : null}
        {isFixed ? (
          <pre className="rounded-lg border border-line bg-sunken p-3 text-sm">{content.body}</pre>
        ) : (
          <Suspense fallback={<Loading />}>
            <CodeEditor
              label="Body"
              value={content.body}
              variables={variables}
              insert={insert}
              onChange={(body) => onChange({ body })}
            />
          </Suspense>
        )}
        {refused?.problemOf('body') ? (
          <span className="text-sm text-bad" role="alert">
            {refused.problemOf('body')}
          </span>
        ) : null}
      </div>
    </div>
  );
}

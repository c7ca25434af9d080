import type { EmailDocument } from '@fernpost/email-document';
import { useState } from 'react';
import { FormProblem, problemOf } from '../../../ui/Form.tsx';
import { contentOf, type MailContent } from '../../mail/content.ts';
import { MailBody } from '../../mail/MailBody.tsx';
import { PreheaderField, VariableField } from '../../mail/VariableField.tsx';
import type { Campaign } from '../campaign.ts';

/** A message that is being rewritten, and which parts differ from the campaign's. */
export interface Writing {
  /** The message as the campaign has it. */
  before: MailContent;
  content: MailContent;
  changed: string[];
  change: (change: Partial<MailContent>) => void;
}

/** The subject and body of a campaign as they are rewritten. */
export function useWriting(campaign: Campaign): Writing {
  const [before] = useState(() => contentOf(campaign));
  const [content, setContent] = useState(before);
  const isSameBody =
    content.body === before.body && JSON.stringify(content.document) === JSON.stringify(before.document);
  return {
    before,
    content,
    changed: [...(content.subject === before.subject ? [] : ['subject']), ...(isSameBody ? [] : ['content'])],
    change: (part) => setContent((old) => ({ ...old, ...part })),
  };
}

/** The content as requests take it: its blocks, or its HTML. */
export function writtenBody({ document, body }: { document: EmailDocument | null; body: string }) {
  return document === null ? { body } : { document: { ...document } };
}

/** The fields of a message that is being rewritten. */
export function ContentFields({ writing, error }: { writing: Writing; error: unknown }) {
  const { content, change } = writing;
  return (
    <div className="stack">
      <VariableField
        label="Subject"
        required
        value={content.subject}
        problem={problemOf(error, 'subject')}
        onText={(subject) => change({ subject })}
      />
      <PreheaderField document={content.document} onChange={change} />
      <MailBody content={content} problem={problemOf(error, 'body')} onChange={change} />
      <FormProblem error={error} fields={['subject', 'body']} />
    </div>
  );
}

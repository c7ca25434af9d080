import { checkDocument, checkEmail, gmailClip } from '@fernpost/email-document';
import { usePause } from '../../ui/pause.ts';
import { Note } from '../../ui/States.tsx';
import { useSource } from './brand.ts';
import type { MailContent } from './content.ts';
import { useContactCount, useKnownVariables } from './variables.ts';

/** Lists problems that recipients would notice: links, images, variables, size. Nothing is wrong with what is not written yet. */
export function MailChecks({ content }: { content: Pick<MailContent, 'body' | 'document'> }) {
  const variables = useKnownVariables();
  const contacts = useContactCount();
  const settled = usePause(content, 400);
  const source = useSource()(settled);
  if (source === '') return null;
  const { document } = settled;
  const findings = [...checkEmail(source, variables, contacts), ...(document ? checkDocument(document) : [])];
  // Two links may have the same problem, and both checks find an image without alt text. It is said once.
  const messages = [...new Set(findings.map(({ message }) => message))];
  const kilobytes = (size: number) => `${Math.ceil(size / 1024)} kB`;
  return (
    <section aria-label="Checks">
      <h2>Checks</h2>
      <p className="muted">
        {kilobytes(new TextEncoder().encode(source).length)} of HTML. Gmail clips emails after {kilobytes(gmailClip)}.
      </p>
      {messages.length === 0 ? (
        <Note tone="good">Links, images and variables look fine.</Note>
      ) : (
        <ul className="flex flex-col gap-2">
          {messages.map((message) => (
            <li key={message}>
              <Note tone="warn">{message}</Note>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

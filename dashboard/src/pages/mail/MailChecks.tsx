import { checkDocument, checkEmail, type EmailDocument, gmailClip } from '@fernpost/email-document';
import { Note } from '../../ui/States.tsx';
import { useKnownVariables } from './variables.ts';

/** Lists problems that recipients would notice: links, images, variables, size. */
export function MailChecks({ source, document }: { source: string; document: EmailDocument | null }) {
  const variables = useKnownVariables();
  const findings = [...checkEmail(source, variables), ...(document ? checkDocument(document) : [])];
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
        <ul className="stack">
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

import { checkDocument, checkEmail, type EmailDocument, gmailClip } from '@fernpost/email-document';
import { Note } from '../../ui/States.tsx';
import { useKnownVariables } from './variables.ts';

/** Lists problems that recipients would notice: links, images, variables, size. */
export function MailChecks({ source, document }: { source: string; document: EmailDocument | null }) {
  const variables = useKnownVariables();
  const findings = [...checkEmail(source, variables), ...(document ? checkDocument(document) : [])];
  const kilobytes = (size: number) => `${Math.ceil(size / 1024)} kB`;
  return (
    <section aria-label="Checks">
      <h2>Checks</h2>
      <p className="muted">
        {kilobytes(new TextEncoder().encode(source).length)} of HTML. Gmail clips emails after {kilobytes(gmailClip)}.
      </p>
      {findings.length === 0 ? (
        <Note tone="good">Links, images and variables look fine.</Note>
      ) : (
        <ul className="stack">
          {findings.map(({ kind, message }) => (
            <li key={`${kind} ${message}`}>
              <Note tone="warn">{message}</Note>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

import '../mail/mail.css';
import { type Email, subjectOf } from './email.ts';

/** The HTML of a mail, as its recipient sees it. */
export function Content({ email }: { email: Email }) {
  if (!email.body)
    return (
      <p className="muted">The content of this email is no longer stored. Its subject and its timeline are kept.</p>
    );
  return (
    <iframe
      title={`Content of ${subjectOf(email) || 'the email'}`}
      className="mail-preview"
      // Nothing in a mail may run, open windows or send forms here.
      sandbox=""
      srcDoc={email.body}
    />
  );
}

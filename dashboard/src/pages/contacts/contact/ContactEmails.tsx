import { answer, api } from '../../../api/client.ts';
import { useProjectId } from '../../../app/address.ts';
import { usePages } from '../../../app/pages.ts';
import { EndlessRows } from '../../../ui/EndlessRows.tsx';
import { Empty } from '../../../ui/States.tsx';
import { EmailRow } from '../../emails/EmailRow.tsx';

/** Every email to a contact. */
export function ContactEmails({ email }: { email: string }) {
  const project = useProjectId();
  const emails = usePages({
    queryKey: ['emails', project, { to: email }],
    fetchPage: (cursor, signal) =>
      answer(api.GET('/emails', { params: { query: { limit: 50, cursor, to: email } }, signal })),
  });
  return (
    <EndlessRows
      label="Emails to this contact"
      query={emails}
      rowsOf={(page) => page.data}
      rowKey={({ id }) => id}
      empty={<Empty title="No emails yet">Emails to this contact appear here.</Empty>}
    >
      {(each) => <EmailRow email={each} />}
    </EndlessRows>
  );
}

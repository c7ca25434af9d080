import { contactName } from '@fernpost/email-document/contact-name';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { answer, api } from '../../api/client.ts';
import { useFilters, useProjectId } from '../../app/address.ts';
import { Address } from '../../ui/Address.tsx';
import { Page } from '../../ui/Page.tsx';
import { ShownPage } from '../../ui/ShownPage.tsx';
import { Tabs } from '../../ui/Tabs.tsx';
import { ContactData } from './ContactData.tsx';
import { ContactHistory } from './ContactHistory.tsx';
import { Actions } from './contact/Actions.tsx';
import { ContactEmails } from './contact/ContactEmails.tsx';
import { ContactEvents } from './contact/ContactEvents.tsx';
import { ContactSegments } from './contact/ContactSegments.tsx';
import { ContactWorkflows } from './contact/ContactWorkflows.tsx';
import { HistoryTab } from './contact/HistoryTab.tsx';
import { Profile } from './contact/Profile.tsx';
import { Story } from './contact/Story.tsx';
import type { Contact } from './list/list.ts';

/** One person: who they are, what is known of them, and their whole story. */
export function ContactPage() {
  const project = useProjectId();
  const { contact: id = '' } = useParams({ strict: false });
  const queries = useQueryClient();
  const contact = useQuery({
    queryKey: ['contacts', project, id],
    queryFn: () => answer(api.GET('/contacts/{id}', { params: { path: { id } } })),
  });
  const refresh = async () => {
    await queries.invalidateQueries({ queryKey: ['contacts', project] });
    await queries.invalidateQueries({ queryKey: ['activity', project, id] });
  };
  const above = (
    <Link to="/app/$project/contacts" params={{ project }}>
      Contacts
    </Link>
  );
  return (
    <ShownPage query={contact} above={above}>
      {(person) => {
        const name = contactName(person.data);
        return (
          <Page
            title={name ?? person.email}
            above={above}
            about={name === null ? undefined : <Address>{person.email}</Address>}
            actions={<Actions contact={person} onChanged={refresh} />}
          >
            <div className="stack">
              <div className="stretch">
                <Profile contact={person} onSaved={refresh} />
                <ContactData contact={person} onSaved={refresh} />
              </div>
              <Sections contact={person} />
            </div>
          </Page>
        );
      }}
    </ShownPage>
  );
}

function Sections({ contact }: { contact: Contact }) {
  const [{ tab }, change] = useFilters();
  const sections = [
    { key: 'activity', name: 'Activity', content: <Story contact={contact.id} /> },
    { key: 'emails', name: 'Emails', content: <ContactEmails email={contact.email} /> },
    { key: 'events', name: 'Events', content: <ContactEvents contact={contact.id} /> },
    { key: 'segments', name: 'Segments', content: <ContactSegments contact={contact} /> },
    { key: 'workflows', name: 'Workflows', content: <ContactWorkflows contact={contact} /> },
    { key: 'subscription', name: 'Subscription', content: <ContactHistory contact={contact.id} only="subscription" /> },
    { key: 'history', name: 'History', content: <HistoryTab contact={contact.id} /> },
  ] as const;
  return (
    <Tabs
      label="About this contact"
      value={sections.find(({ key }) => key === tab)?.key ?? 'activity'}
      tabs={sections}
      onChange={(key) => change({ tab: key === 'activity' ? undefined : key })}
    />
  );
}

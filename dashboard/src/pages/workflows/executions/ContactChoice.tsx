import { contactName } from '@fernpost/email-document/contact-name';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../../api/client.ts';
import { useProjectId } from '../../../app/address.ts';
import { NamedAddress } from '../../../ui/NamedAddress.tsx';
import { SearchField } from '../../../ui/SearchField.tsx';
import { Shown } from '../../../ui/States.tsx';

/** Finds a contact and chooses it. */
export function ContactChoice({ value, onChange }: { value: string; onChange: (id: string) => void }) {
  const project = useProjectId();
  const [search, setSearch] = useState('');
  const contacts = useQuery({
    queryKey: ['contacts', project, 'choice', search],
    placeholderData: (before) => before,
    queryFn: () => answer(api.GET('/contacts', { params: { query: { search, limit: 10 } } })),
  });
  return (
    <>
      <SearchField label="Search contacts" value={search} onChange={setSearch} />
      <Shown query={contacts}>
        {({ data }) => (
          <fieldset className="field">
            <legend>Contact</legend>
            {data.length === 0 ? <p>No contacts match.</p> : null}
            {data.map((contact) => (
              <label key={contact.id} className="row break">
                <input
                  type="radio"
                  name="contact"
                  checked={value === contact.id}
                  onChange={() => onChange(contact.id)}
                />{' '}
                <span>
                  <NamedAddress name={contactName(contact.data)} email={contact.email} />
                </span>
              </label>
            ))}
          </fieldset>
        )}
      </Shown>
    </>
  );
}

/** A text of JSON as a value, undefined where it is empty. @throws SyntaxError */
export function jsonOf(text: string): unknown {
  return text.trim() === '' ? undefined : JSON.parse(text);
}

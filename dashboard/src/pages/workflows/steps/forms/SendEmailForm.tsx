import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { answer, api } from '../../../../api/client.ts';
import { useProjectId } from '../../../../app/address.ts';
import { SelectField, TextField } from '../../../../ui/Field.tsx';
import { type Form, set, text } from './form.ts';

export function SendEmailForm(form: Form) {
  const project = useProjectId();
  const { draft, problemOf, onChange } = form;
  const [search, setSearch] = useState('');
  const templates = useQuery({
    queryKey: ['templates', project, 'choice', search],
    queryFn: () => answer(api.GET('/templates', { params: { query: { search, pageSize: 100 } } })),
  });
  const chosen = useQuery({
    queryKey: ['templates', project, draft.templateId],
    enabled: draft.templateId !== null,
    queryFn: () => answer(api.GET('/templates/{id}', { params: { path: { id: draft.templateId ?? '' } } })),
  });
  const recipient = (draft.config.recipient ?? { type: 'CONTACT' }) as { type?: string; customEmail?: string };
  const isMany = (templates.data?.total ?? 0) > 100 || search !== '';
  const offered = templates.data?.data ?? [];
  return (
    <>
      {isMany ? (
        <TextField label="Search templates" value={search} onChange={(event) => setSearch(event.target.value)} />
      ) : null}
      <SelectField
        label="Template"
        value={draft.templateId ?? ''}
        problem={problemOf('templateId')}
        onChange={(event) => {
          const templateId = event.target.value || null;
          const { templateId: _, ...config } = draft.config;
          const name = offered.find(({ id }) => id === templateId)?.name;
          onChange({
            templateId,
            config: templateId ? { ...config, templateId } : config,
            template: templateId ? { id: templateId, name: name ?? '' } : null,
          });
        }}
      >
        <option value="">Select one</option>
        {chosen.data && offered.every(({ id }) => id !== chosen.data.id) ? (
          <option value={chosen.data.id}>{chosen.data.name}</option>
        ) : null}
        {offered.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </SelectField>
      {draft.templateId ? (
        <Link to="/app/$project/templates/$template" params={{ project, template: draft.templateId }}>
          Open template
        </Link>
      ) : null}
      <SelectField
        label="To"
        value={recipient.type ?? 'CONTACT'}
        onChange={(event) =>
          set(form, {
            recipient: event.target.value === 'CUSTOM' ? { type: 'CUSTOM', customEmail: '' } : { type: 'CONTACT' },
          })
        }
      >
        <option value="CONTACT">Contact</option>
        <option value="CUSTOM">Fixed address</option>
      </SelectField>
      {recipient.type === 'CUSTOM' ? (
        <TextField
          label="Address"
          type="email"
          value={text(recipient.customEmail)}
          problem={problemOf('recipient.customEmail')}
          onChange={(event) => set(form, { recipient: { type: 'CUSTOM', customEmail: event.target.value } })}
        />
      ) : null}
    </>
  );
}

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { useProjectId } from '../../app/address.ts';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { TextArea } from '../../ui/Field.tsx';
import { SearchField } from '../../ui/SearchField.tsx';
import { Problem, Shown } from '../../ui/States.tsx';
import { refreshWorkflows } from './workflow.ts';

/** Lets a contact into an automation by hand. */
export function StartDialog({ workflow: id, onClose }: { workflow: string; onClose: () => void }) {
  const project = useProjectId();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [search, setSearch] = useState('');
  const [contactId, setContactId] = useState('');
  const [text, setText] = useState('');
  const [problem, setProblem] = useState<string>();
  const contacts = useQuery({
    queryKey: ['contacts', project, 'choice', search],
    placeholderData: (before) => before,
    queryFn: () => answer(api.GET('/contacts', { params: { query: { search, limit: 10 } } })),
  });
  const start = useMutation({
    mutationFn: (context: unknown) =>
      answer(api.POST('/workflows/{id}/executions', { params: { path: { id } }, body: { contactId, context } })),
    onSuccess: async (made) => {
      await refreshWorkflows(queries, project);
      await navigate({
        to: '/app/$project/workflows/$workflow/executions/$execution',
        params: { project, workflow: id, execution: made.id },
      });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    try {
      const context: unknown = text.trim() === '' ? undefined : JSON.parse(text);
      setProblem(undefined);
      start.mutate(context);
    } catch {
      setProblem('Enter valid JSON.');
    }
  };
  return (
    <Dialog title="Start for contact" onClose={onClose}>
      <form className="stack" onSubmit={submit}>
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
                    checked={contactId === contact.id}
                    onChange={() => setContactId(contact.id)}
                  />{' '}
                  {contact.email}
                </label>
              ))}
            </fieldset>
          )}
        </Shown>
        <TextArea
          label="Context (JSON, optional)"
          hint="Like the data of an event: available in templates, and as event.… in conditions."
          spellCheck={false}
          dir="ltr"
          value={text}
          problem={problem}
          onChange={(event) => setText(event.target.value)}
        />
        {start.error ? <Problem error={start.error} /> : null}
        <footer>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" busy={start.isPending} disabled={contactId === ''}>
            Start
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { useProjectId } from '../../app/address.ts';
import { Button } from '../../ui/Button.tsx';
import { TextField } from '../../ui/Field.tsx';
import { Form, FormProblem, problemOf } from '../../ui/Form.tsx';
import { Card, Page } from '../../ui/Page.tsx';
import { Empty, Note, Shown } from '../../ui/States.tsx';
import { useMayAdminister } from '../settings/project.ts';
import { DomainCard } from './DomainCard.tsx';
import { domainsOf, maySend } from './domain.ts';

/** The domains that mail may be sent from, with the DNS records that prove them. */
export function Domains() {
  const project = useProjectId();
  const isAdmin = useMayAdminister();
  const domains = useQuery({
    ...domainsOf(project),
    // Records of unproven domains are checked every five minutes, and the operator may approve one at any time.
    refetchInterval: ({ state }) => (state.data?.every(maySend) ? false : 30_000),
  });
  return (
    <Page
      title="Domains"
      about="Verify the domains you send from. Copy the records to your DNS provider. We check them every five minutes."
    >
      <div className="stack">
        {isAdmin ? <AddDomain project={project} /> : <Note>Only admins and the owner can add or remove domains.</Note>}
        <Shown query={domains}>
          {(all) =>
            all.length === 0 ? (
              <Empty title="No domains yet">Add the domain of your From address, such as example.com.</Empty>
            ) : (
              all.map((domain) => <DomainCard key={domain.id} domain={domain} isAdmin={isAdmin} />)
            )
          }
        </Shown>
      </div>
    </Page>
  );
}

function AddDomain({ project }: { project: string }) {
  const [domain, setDomain] = useState('');
  const queries = useQueryClient();
  const add = useMutation({
    mutationFn: () => answer(api.POST('/domains', { body: { domain } })),
    onSuccess: async () => {
      setDomain('');
      await queries.invalidateQueries({ queryKey: ['domains', project] });
    },
  });
  return (
    <Card title="Add domain">
      <Form className="filters" onSubmit={() => add.mutate()}>
        <TextField
          label="Domain"
          required
          placeholder="example.com"
          value={domain}
          problem={problemOf(add.error, 'domain')}
          onChange={(event) => setDomain(event.target.value)}
        />
        <Button type="submit" variant="primary" busy={add.isPending}>
          Add
        </Button>
      </Form>
      <FormProblem error={add.error} fields={['domain']} />
    </Card>
  );
}

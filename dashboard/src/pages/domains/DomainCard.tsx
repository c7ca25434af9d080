import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { answer, api } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';
import { Badge, type Tone } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { CopyButton } from '../../ui/CopyButton.tsx';
import { ConfirmDialog } from '../../ui/Dialog.tsx';
import { Card } from '../../ui/Page.tsx';
import { Note, Problem } from '../../ui/States.tsx';
import { type Column, Table } from '../../ui/Table.tsx';
import { toast } from '../../ui/toasts.tsx';

type Domain = components['schemas']['Domain'];
type DnsRecord = Domain['records'][number];

const states: Record<Domain['status'], { name: string; tone: Tone }> = {
  NotStarted: { name: 'Not checked yet', tone: 'info' },
  Pending: { name: 'Waiting for DNS records', tone: 'warn' },
  Success: { name: 'Verified', tone: 'good' },
  Failed: { name: 'DNS records don’t match', tone: 'bad' },
  TemporaryFailure: { name: 'DNS doesn’t respond; sending continues', tone: 'warn' },
};
const tones: Record<string, Tone> = { verified: 'good', failed: 'bad', pending: 'warn' };

/** One domain: its state, the records to copy, and what was found at each. */
export function DomainCard({
  domain,
  isAdmin,
  children,
}: {
  domain: Domain;
  isAdmin: boolean;
  /** More about the domain, below its records. */
  children?: ReactNode;
}) {
  const [removing, setRemoving] = useState(false);
  const queries = useQueryClient();
  const refresh = () => queries.invalidateQueries({ queryKey: ['domains', domain.projectId] });
  const check = useMutation({
    mutationFn: () => answer(api.GET('/domains/{id}/verify', { params: { path: { id: domain.id } } })),
    onSuccess: async ({ verified }) => {
      toast(
        verified ? `${domain.domain} is verified` : `${domain.domain} is not verified yet`,
        verified ? 'good' : 'warn',
      );
      await Promise.all([refresh(), queries.invalidateQueries({ queryKey: ['dmarc', domain.id] })]);
    },
  });
  const state = states[domain.status];
  return (
    <Card
      title={
        <>
          {domain.domain} <Badge tone={state.tone}>{state.name}</Badge>{' '}
          {domain.approved ? null : <Badge tone="warn">Waiting for the operator’s approval</Badge>}
        </>
      }
    >
      <div className="stack">
        {domain.approved ? null : (
          <Note tone="warn">
            The operator of this service approves new domains by hand. Set the DNS records below, then ask them to
            approve {domain.domain} for project <code>{domain.projectId}</code>. You can send from it as soon as it is
            verified and approved.
          </Note>
        )}
        {domain.records.length === 0 ? (
          <p className="muted">No DNS records needed: nothing leaves this machine.</p>
        ) : (
          <Records domain={domain} />
        )}
        {children}
        {check.error ? <Problem error={check.error} /> : null}
        <div className="row">
          <Button busy={check.isPending} onClick={() => check.mutate()}>
            Check records now
          </Button>
          {isAdmin ? (
            <Button variant="danger" onClick={() => setRemoving(true)}>
              Remove
            </Button>
          ) : null}
        </div>
      </div>
      {removing ? (
        <ConfirmDialog
          title={`Remove ${domain.domain}?`}
          action="Remove domain"
          onConfirm={async () => {
            await answer(api.DELETE('/domains/{id}', { params: { path: { id: domain.id } } }));
            await refresh();
          }}
          onClose={() => setRemoving(false)}
        >
          You can no longer send from {domain.domain}. Its DNS records stay until you delete them at your DNS provider.
        </ConfirmDialog>
      ) : null}
    </Card>
  );
}

const columns: Column<DnsRecord>[] = [
  {
    key: 'purpose',
    title: 'Purpose',
    cell: ({ purpose, required }) => `${purpose}${required ? '' : ' (recommended)'}`,
  },
  {
    key: 'type',
    title: 'Type',
    cell: ({ type, priority }) => (priority === null ? type : `${type} ${priority}`),
  },
  {
    key: 'name',
    title: 'Name',
    cell: ({ name }) => (
      <>
        <code>{name}</code> <CopyButton text={name} what={`the name ${name}`} />
      </>
    ),
  },
  {
    key: 'value',
    title: 'Value',
    cell: ({ value, purpose }) => (
      <>
        <code>{value}</code> <CopyButton text={value} what={`the value for ${purpose}`} />
      </>
    ),
  },
  {
    key: 'found',
    title: 'Status',
    cell: ({ status, finding }) => (
      <>
        <Badge tone={tones[status]}>{status}</Badge> {finding}
      </>
    ),
  },
];

function Records({ domain: { domain, records } }: { domain: Domain }) {
  return (
    <Table
      label={`DNS records of ${domain}`}
      rows={records}
      rowKey={({ type, name, value }) => `${type} ${name} ${value}`}
      columns={columns}
    />
  );
}

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { useDialog, useFilters, useProjectId } from '../../app/address.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/Dialog.tsx';
import { Page } from '../../ui/Page.tsx';
import { Empty, Shown } from '../../ui/States.tsx';
import { Table } from '../../ui/Table.tsx';
import { Tabs } from '../../ui/Tabs.tsx';
import { toast } from '../../ui/toasts.tsx';
import { RuleDialog } from './RuleDialog.tsx';
import { RulePreview } from './RulePreview.tsx';
import { type Rule, ruleKinds } from './rule.ts';
import { SuppressedMail } from './SuppressedMail.tsx';

/** Rules that keep mail from being sent, and the mail they have caught. */
export function Suppressions() {
  const [{ tab }, change] = useFilters();
  const [editing, setEditing] = useState<Rule | null>(null);
  const [dialog, setDialog] = useDialog();
  return (
    <Page
      title="Suppressions"
      about="Emails to addresses that match a rule are never sent. They are kept here instead."
      actions={
        <Button variant="primary" onClick={() => setDialog('new')}>
          New rule
        </Button>
      }
    >
      <Tabs
        label="Suppressions"
        value={tab === 'mail' ? 'mail' : 'rules'}
        onChange={(key) => change({ tab: key === 'mail' ? key : undefined })}
        tabs={[
          {
            key: 'rules',
            name: 'Rules',
            content: (
              <div className="stack">
                <RulePreview />
                <Rules onEdit={setEditing} />
              </div>
            ),
          },
          { key: 'mail', name: 'Suppressed emails', content: <SuppressedMail /> },
        ]}
      />
      {editing ? <RuleDialog rule={editing} onClose={() => setEditing(null)} /> : null}
      {dialog === 'new' ? <RuleDialog rule={null} onClose={() => setDialog(null)} /> : null}
    </Page>
  );
}

function Rules({ onEdit }: { onEdit: (rule: Rule) => void }) {
  const project = useProjectId();
  const queries = useQueryClient();
  const [leaving, setLeaving] = useState<Rule | null>(null);
  const [deleting, setDeleting] = useState<Rule | null>(null);
  const rules = useQuery({
    queryKey: ['suppressions', project, 'rules'],
    queryFn: () => answer(api.GET('/suppressions')),
  });
  return (
    <>
      <Shown query={rules}>
        {(all) =>
          all.length === 0 ? (
            <Empty title="No rules yet">Suppress emails to an address, a domain, or a pattern.</Empty>
          ) : (
            <RuleTable rules={all} onEdit={onEdit} onTurnOff={setLeaving} onDelete={setDeleting} />
          )
        }
      </Shown>
      {deleting ? (
        <ConfirmDialog
          title={`Delete ${deleting.name}?`}
          action="Delete rule"
          onConfirm={async () => {
            await answer(api.DELETE('/suppressions/{id}', { params: { path: { id: deleting.id } } }));
            toast(`“${deleting.name}” deleted`);
            await queries.invalidateQueries({ queryKey: ['suppressions', project] });
          }}
          onClose={() => setDeleting(null)}
        >
          The rule for <code>{deleting.pattern}</code> is deleted
          {deleting.enabled ? ', and matching emails are sent from now on' : ''}. Emails it has suppressed stay here and
          are not sent.
        </ConfirmDialog>
      ) : null}
      {leaving ? (
        <ConfirmDialog
          title={`Turn off ${leaving.name}?`}
          action="Turn off rule"
          onConfirm={async () => {
            const { id, name, kind, pattern } = leaving;
            await answer(
              api.PUT('/suppressions/{id}', {
                params: { path: { id } },
                body: { name, kind, pattern, enabled: false },
              }),
            );
            toast(`“${name}” turned off`);
            await queries.invalidateQueries({ queryKey: ['suppressions', project] });
          }}
          onClose={() => setLeaving(null)}
        >
          Emails matching <code>{leaving.pattern}</code> are sent from now on. Emails already suppressed are not sent.
        </ConfirmDialog>
      ) : null}
    </>
  );
}

function RuleTable({
  rules,
  onEdit,
  onTurnOff,
  onDelete,
}: {
  rules: Rule[];
  onEdit: (rule: Rule) => void;
  onTurnOff: (rule: Rule) => void;
  onDelete: (rule: Rule) => void;
}) {
  return (
    <Table
      label="Rules"
      rows={rules}
      rowKey={({ id }) => id}
      columns={[
        { key: 'name', title: 'Name', cell: ({ name }) => <span dir="auto">{name}</span> },
        { key: 'kind', title: 'Suppresses', cell: ({ kind }) => ruleKinds[kind].name },
        { key: 'pattern', title: 'Pattern', cell: ({ pattern }) => <code>{pattern}</code> },
        {
          key: 'state',
          title: 'Status',
          cell: ({ enabled }) => <Badge tone={enabled ? 'good' : undefined}>{enabled ? 'On' : 'Off'}</Badge>,
        },
        {
          key: 'actions',
          title: 'Actions',
          cell: (rule) => (
            <span className="row">
              <Button size="small" aria-label={`Edit ${rule.name}`} onClick={() => onEdit(rule)}>
                Edit
              </Button>
              {rule.enabled ? (
                <Button size="small" aria-label={`Turn off ${rule.name}`} onClick={() => onTurnOff(rule)}>
                  Turn off
                </Button>
              ) : null}
              <Button size="small" aria-label={`Delete ${rule.name}`} onClick={() => onDelete(rule)}>
                Delete
              </Button>
            </span>
          ),
        },
      ]}
    />
  );
}

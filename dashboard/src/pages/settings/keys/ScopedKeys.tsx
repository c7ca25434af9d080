import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Ellipsis } from 'lucide-react';
import { useState } from 'react';
import { answer, api } from '../../../api/client.ts';
import { useDialog, useFilters } from '../../../app/address.ts';
import { Badge } from '../../../ui/Badge.tsx';
import { Button } from '../../../ui/Button.tsx';
import { ConfirmDialog } from '../../../ui/Dialog.tsx';
import { Menu, MenuItem, MenuSeparator } from '../../../ui/Menu.tsx';
import { Card } from '../../../ui/Page.tsx';
import { Empty, Note, Shown } from '../../../ui/States.tsx';
import { Table } from '../../../ui/Table.tsx';
import { Timestamp } from '../../../ui/Timestamp.tsx';
import { toast } from '../../../ui/toasts.tsx';
import { mayAdminister, type Project } from '../project.ts';
import { EditKeyDialog, NewKeyDialog, RotateKeyDialog } from './KeyDialog.tsx';
import { mcpOf, mcpText } from './McpFields.tsx';
import { ShownOnce } from './ShownOnce.tsx';
import { type ApiKey, columns, scopeAreas } from './scopes.ts';

/** A key, and what to do with it. */
interface ChosenKey {
  what: 'edit' | 'rotate' | 'delete';
  key: ApiKey;
}

/** The keys with scopes of a project: what each may do, and when it was last used. */
export function ScopedKeys({ project }: { project: Project }) {
  const isAdmin = mayAdminister(project);
  const [dialog, setDialog] = useDialog();
  const [{ preset }, change] = useFilters();
  const [chosen, setChosen] = useState<ChosenKey | null>(null);
  const [shown, setShown] = useState<{ title: string; secret: string; more?: string } | null>(null);
  const queries = useQueryClient();
  const queryKey = ['api-keys', project.id];
  const keys = useQuery({
    queryKey,
    enabled: isAdmin,
    queryFn: () => answer(api.GET('/users/@me/projects/{id}/api-keys', { params: { path: { id: project.id } } })),
  });
  const refresh = () => queries.invalidateQueries({ queryKey });
  const create = (
    <Button variant="primary" onClick={() => setDialog('new-key')}>
      Create key
    </Button>
  );
  return (
    <Card title="Keys with scopes">
      <div className="stack">
        <p className="muted">
          Give each app a key of its own that can do what it needs and nothing else. Keys begin with <code>rk_</code>.
        </p>
        {isAdmin ? (
          <Shown query={keys}>
            {(all) =>
              all.length === 0 ? (
                <Empty title="No keys yet" action={create}>
                  Create one for each app or script, so that you can rotate or delete it alone.
                </Empty>
              ) : (
                <>
                  <KeyTable keys={all} onChoose={setChosen} />
                  <div>{create}</div>
                </>
              )
            }
          </Shown>
        ) : (
          <Note>Only admins and the owner can see and create keys.</Note>
        )}
      </div>
      {dialog === 'new-key' && isAdmin ? (
        <NewKeyDialog
          project={project.id}
          preset={preset}
          onCreated={async (name, secret) => {
            change({ dialog: undefined, preset: undefined });
            setShown({ title: `${name} is ready`, secret });
            await refresh();
          }}
          onClose={() => change({ dialog: undefined, preset: undefined })}
        />
      ) : null}
      {chosen ? (
        <ChosenDialog
          project={project.id}
          chosen={chosen}
          onSecret={(secret) => setShown({ title: `${chosen.key.name} has a new key`, secret })}
          onChanged={refresh}
          onClose={() => setChosen(null)}
        />
      ) : null}
      {shown ? <ShownOnce {...shown} what="the key" onClose={() => setShown(null)} /> : null}
    </Card>
  );
}

function KeyTable({ keys, onChoose }: { keys: ApiKey[]; onChoose: (chosen: ChosenKey) => void }) {
  return (
    <Table
      label="Keys with scopes"
      rows={keys}
      rowKey={({ id }) => id}
      columns={[
        {
          key: 'name',
          title: 'Name',
          cell: (key) => (
            <>
              <div className="font-medium" dir="auto">
                {key.name}
              </div>
              <code className="muted">{key.prefix}…</code>
            </>
          ),
        },
        { key: 'scopes', title: 'Scopes', cell: (key) => <Scopes apiKey={key} /> },
        { key: 'limits', title: 'Limits', cell: (key) => <Limits apiKey={key} /> },
        {
          key: 'used',
          title: 'Last used',
          cell: ({ lastUsedAt }) => (lastUsedAt ? <Timestamp at={lastUsedAt} /> : <span className="muted">Never</span>),
        },
        {
          key: 'actions',
          title: 'Actions',
          cell: (key) => (
            <Menu
              trigger={
                <Button size="small" aria-label={`Actions for ${key.name}`}>
                  <Ellipsis aria-hidden />
                </Button>
              }
            >
              <MenuItem onSelect={() => onChoose({ what: 'edit', key })}>Edit name and scopes</MenuItem>
              <MenuItem onSelect={() => onChoose({ what: 'rotate', key })}>Rotate</MenuItem>
              <MenuSeparator />
              <MenuItem onSelect={() => onChoose({ what: 'delete', key })}>Delete</MenuItem>
            </Menu>
          ),
        },
      ]}
    />
  );
}

function ChosenDialog({
  project,
  chosen: { what, key },
  onSecret,
  onChanged,
  onClose,
}: {
  project: string;
  chosen: ChosenKey;
  onSecret: (secret: string) => void;
  onChanged: () => Promise<unknown>;
  onClose: () => void;
}) {
  if (what === 'delete')
    return <DeleteKeyDialog project={project} apiKey={key} onDeleted={onChanged} onClose={onClose} />;
  if (what === 'rotate')
    return (
      <RotateKeyDialog
        project={project}
        apiKey={key}
        onRotated={async (secret) => {
          onClose();
          onSecret(secret);
          await onChanged();
        }}
        onClose={onClose}
      />
    );
  return (
    <EditKeyDialog
      project={project}
      apiKey={key}
      onSaved={async (name) => {
        onClose();
        toast(`${name} saved`);
        await onChanged();
      }}
      onClose={onClose}
    />
  );
}

function DeleteKeyDialog({
  project,
  apiKey: { id, name, lastUsedAt },
  onDeleted,
  onClose,
}: {
  project: string;
  apiKey: ApiKey;
  onDeleted: () => Promise<unknown>;
  onClose: () => void;
}) {
  return (
    <ConfirmDialog
      title={`Delete ${name}? Requests with it fail immediately.`}
      action="Delete key"
      onConfirm={async () => {
        await answer(
          api.DELETE('/users/@me/projects/{id}/api-keys/{keyId}', { params: { path: { id: project, keyId: id } } }),
        );
        toast(`${name} deleted`);
        await onDeleted();
      }}
      onClose={onClose}
    >
      {lastUsedAt ? (
        <>
          It was last used <Timestamp at={lastUsedAt} />.
        </>
      ) : (
        'It was never used.'
      )}{' '}
      You can’t undo this.
    </ConfirmDialog>
  );
}

// One line for each area, as the matrix has them.
function Scopes({ apiKey: { scopes } }: { apiKey: ApiKey }) {
  const lines = scopeAreas.flatMap((area) => {
    const ways = (Object.keys(columns) as (keyof typeof columns)[]).flatMap((column) => {
      const scope = area[column];
      return scope && scopes.includes(scope) ? [columns[column].toLowerCase()] : [];
    });
    return ways.length === 0 ? [] : [{ name: area.name, ways: ways.join(', ') }];
  });
  return (
    <ul>
      {lines.map(({ name, ways }) => (
        <li key={name}>
          {name}: <span className="muted">{ways}</span>
        </li>
      ))}
    </ul>
  );
}

function Limits({ apiKey }: { apiKey: ApiKey }) {
  const { senderDomains, recipients, expiresAt, overlapUntil } = apiKey;
  const mcp = mcpOf(apiKey);
  const isForAssistants = mcp.mode !== 'read';
  const isExpired = expiresAt !== null && Date.parse(expiresAt) < Date.now();
  return (
    <div className="flex flex-col items-start gap-1">
      {recipients ? <Badge tone="info">Test key</Badge> : null}
      {recipients ? (
        <span>
          To: <span className="muted">{[...recipients.domains, ...recipients.addresses].join(', ') || 'nobody'}</span>
        </span>
      ) : null}
      {senderDomains ? (
        <span>
          From: <span className="muted">{senderDomains.join(', ')}</span>
        </span>
      ) : null}
      {isForAssistants ? (
        <span>
          AI assistants: <span className="muted">{mcpText(mcp)}</span>
        </span>
      ) : null}
      {isExpired ? (
        <Badge tone="bad">Expired</Badge>
      ) : expiresAt ? (
        <span className="muted">
          Expires <Timestamp at={expiresAt} />
        </span>
      ) : null}
      {overlapUntil ? (
        <span className="muted">
          Old key works until <Timestamp at={overlapUntil} after />
        </span>
      ) : null}
      {recipients || senderDomains || isForAssistants || expiresAt || overlapUntil ? null : (
        <span className="muted">None</span>
      )}
    </div>
  );
}

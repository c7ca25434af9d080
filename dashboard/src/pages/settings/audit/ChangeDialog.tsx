import { Link } from '@tanstack/react-router';
import { useProjectId } from '../../../app/address.ts';
import { Button } from '../../../ui/Button.tsx';
import { Dialog } from '../../../ui/Dialog.tsx';
import { Table } from '../../../ui/Table.tsx';
import { Timestamp } from '../../../ui/Timestamp.tsx';
import { actionText, actorText, type Change, differences } from './change.ts';

/** One change with everything that is known of it. */
export function ChangeDialog({ change, onClose }: { change: Change; onClose: () => void }) {
  const rows = differences(change);
  return (
    <Dialog title={actionText(change.action)} onClose={onClose}>
      <dl className="facts">
        <dt>By</dt>
        <dd>{actorText(change.actor)}</dd>
        <dt>When</dt>
        <dd>
          <Timestamp at={change.at} />
        </dd>
        {change.target ? (
          <>
            <dt>Target</dt>
            <dd>
              <Target action={change.action} id={change.target} />
            </dd>
          </>
        ) : null}
        {change.requestId ? (
          <>
            <dt>Request</dt>
            <dd>
              <code>{change.requestId}</code>
            </dd>
          </>
        ) : null}
        {change.ipHash ? (
          <>
            <dt>Network</dt>
            <dd>
              <code>{change.ipHash.slice(0, 16)}</code>
            </dd>
          </>
        ) : null}
        <dt>Entry</dt>
        <dd>{change.position}</dd>
      </dl>
      {rows.length > 0 ? (
        <Table
          label="What changed"
          rows={rows}
          rowKey={({ field }) => field}
          columns={[
            { key: 'field', title: 'Field', cell: ({ field }) => field },
            { key: 'before', title: 'Before', cell: ({ before }) => before },
            { key: 'after', title: 'After', cell: ({ after }) => after },
          ]}
        />
      ) : null}
      <footer>
        <Button onClick={onClose}>Close</Button>
      </footer>
    </Dialog>
  );
}

/** The changed object, as a link where it has a page and still exists. */
function Target({ action, id }: { action: string; id: string }) {
  const project = useProjectId();
  const [area, verb] = action.split('.');
  const text = <code>{id}</code>;
  if (verb === 'deleted') return text;
  if (area === 'campaign')
    return (
      <Link to="/app/$project/campaigns/$campaign" params={{ project, campaign: id }}>
        {text}
      </Link>
    );
  if (area === 'contact')
    return (
      <Link to="/app/$project/contacts/$contact" params={{ project, contact: id }}>
        {text}
      </Link>
    );
  if (area === 'workflow')
    return (
      <Link to="/app/$project/workflows/$workflow" params={{ project, workflow: id }}>
        {text}
      </Link>
    );
  if (area === 'template')
    return (
      <Link to="/app/$project/templates/$template" params={{ project, template: id }}>
        {text}
      </Link>
    );
  if (area === 'email')
    return (
      <Link to="/app/$project/emails/$email" params={{ project, email: id }}>
        {text}
      </Link>
    );
  return text;
}

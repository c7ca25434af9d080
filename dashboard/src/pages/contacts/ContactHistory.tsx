import { Link } from '@tanstack/react-router';
import { answer, api } from '../../api/client.ts';
import { useProjectId } from '../../app/address.ts';
import { usePages } from '../../app/pages.ts';
import { Button } from '../../ui/Button.tsx';
import { EndlessRows } from '../../ui/EndlessRows.tsx';
import { Empty } from '../../ui/States.tsx';
import { Timestamp } from '../../ui/Timestamp.tsx';

/** Shows the changes of a contact, or of its subscription alone: which fields, when, why and by whom. */
export function ContactHistory({
  contact,
  only,
  onMoment,
}: {
  contact: string;
  only?: 'subscription';
  /** Shows the contact as it was after a change. */
  onMoment?: (at: string) => void;
}) {
  const project = useProjectId();
  const history = usePages({
    queryKey: ['contacts', project, contact, 'history'],
    fetchPage: (cursor, signal) =>
      answer(
        api.GET('/contacts/{id}/history', {
          params: { path: { id: contact }, query: { limit: 50, cursor } },
          signal,
        }),
      ),
  });
  return (
    <EndlessRows
      label={only ? 'Subscription changes' : 'Contact changes'}
      query={history}
      rowsOf={(page) => (only ? page.data.filter(({ subscribed }) => subscribed !== null) : page.data)}
      rowKey={({ at }) => at}
      empty={<Empty title="No changes yet">Changes to fields and subscription appear here with their cause.</Empty>}
    >
      {(change) => (
        <div className="stack">
          <div className="flex flex-wrap items-center justify-between gap-x-3">
            <strong>{kinds[change.kind]}</strong>
            <span className="muted break">
              <CauseText cause={change.cause} /> · <Timestamp at={change.at} />
              {onMoment === undefined || change.kind === 'deleted' ? null : (
                <Button size="small" variant="plain" onClick={() => onMoment(change.at)}>
                  View contact at that time
                </Button>
              )}
            </span>
          </div>
          <dl className="facts">
            {linesOf(only ? { ...change, before: {}, after: {}, email: null } : change).map(
              ({ name, before, after }) => (
                <Line key={name} name={name} before={before} after={after} />
              ),
            )}
          </dl>
        </div>
      )}
    </EndlessRows>
  );
}

interface Change {
  created: boolean;
  before: Record<string, unknown>;
  after: Record<string, unknown>;
  subscribed: { before: boolean | null; after: boolean } | null;
  email: { before: string; after: string } | null;
}

function linesOf({ created, before, after, subscribed, email }: Change) {
  const lines: { name: string; before: unknown; after: unknown }[] = [];
  if (email) lines.push({ name: 'Email', ...email });
  if (subscribed) lines.push({ name: 'Subscribed', before: subscribed.before ?? undefined, after: subscribed.after });
  for (const name of Object.keys({ ...before, ...after }).sort())
    lines.push({ name, before: created ? undefined : before[name], after: after[name] });
  return lines;
}

function Line({ name, before, after }: { name: string; before: unknown; after: unknown }) {
  return (
    <>
      <dt>{name}</dt>
      <dd className="break">
        {before === undefined ? null : <del>{shown(before)}</del>}
        {before !== undefined && after !== undefined ? ' → ' : null}
        {after === undefined ? null : shown(after)}
      </dd>
    </>
  );
}

const shown = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

const kinds = { created: 'Created', changed: 'Changed', deleted: 'Deleted', restored: 'Restored' };

const names = {
  contact: 'Contact edited',
  field: 'Field deleted',
  segment: 'Added to a segment',
  track: 'Event tracked',
  send: 'Email sent',
  smtp: 'Email sent by SMTP',
  inbound: 'Email received',
  report: 'Provider report',
  page: 'Recipient',
  step: 'Workflow',
  import: 'Import',
  bulk: 'Bulk change',
  undo: 'Undo',
  unknown: 'Unknown',
};

interface Cause {
  type: keyof typeof names;
  id: string | null;
  by: { kind: 'user' | 'key' | 'mcp'; name: string | null } | null;
}

function CauseText({ cause: { type, id, by } }: { cause: Cause }) {
  const project = useProjectId();
  return (
    <>
      {type === 'import' || type === 'bulk' || type === 'undo' ? (
        <Link to="/app/$project/contact-jobs" params={{ project }}>
          {names[type]}
        </Link>
      ) : type === 'step' && id ? (
        <Link to="/app/$project/workflows/$workflow" params={{ project, workflow: id }}>
          {names[type]}
        </Link>
      ) : (
        names[type]
      )}
      {by ? ` by ${by.name ?? (by.kind === 'user' ? 'a former member' : 'an API key')}` : null}
    </>
  );
}

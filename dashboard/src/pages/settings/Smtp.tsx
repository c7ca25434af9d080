import { useQuery } from '@tanstack/react-query';
import { answer, api } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';
import { useFilters } from '../../app/address.ts';
import { deployment } from '../../app/deployment.ts';
import { Button } from '../../ui/Button.tsx';
import { CopyButton } from '../../ui/CopyButton.tsx';
import { Card } from '../../ui/Page.tsx';
import { Note, Shown } from '../../ui/States.tsx';
import { Table } from '../../ui/Table.tsx';
import { Timestamp } from '../../ui/Timestamp.tsx';
import { domainsOf, maySend } from '../domains/domain.ts';
import { mayAdminister, type Project } from './project.ts';

/** Shows the settings that an SMTP client needs. */
export function Smtp({ project }: { project: Project }) {
  const config = useQuery(deployment);
  return (
    <Shown query={config}>
      {({ features: { smtp } }) =>
        smtp.enabled && smtp.domain && smtp.ports ? (
          <Credentials project={project} host={smtp.domain} ports={smtp.ports} />
        ) : (
          <Note>
            SMTP is turned off in this deployment. Set <code>SMTP_IN_PORT</code> and start <code>npm run smtp</code>.
          </Note>
        )
      }
    </Shown>
  );
}

type Ports = { secure: number | null; submission: number | null };

function Credentials({ project, host, ports }: { project: Project; host: string; ports: Ports }) {
  const [, change] = useFilters();
  const isAdmin = mayAdminister(project);
  const domains = useQuery(domainsOf(project.id));
  const sender = domains.data?.find(maySend)?.domain ?? 'example.com';
  const rows: [string, string][] = [
    ['Host', host],
    ...(ports.submission === null
      ? []
      : [[ports.secure === null ? 'Port' : 'Port (STARTTLS)', String(ports.submission)] satisfies [string, string]]),
    ...(ports.secure === null ? [] : [['Port (TLS)', String(ports.secure)] satisfies [string, string]]),
    ['User', project.id],
  ];
  const line = [
    `swaks --server ${host}:${ports.submission ?? ports.secure}`,
    ports.submission === null ? '--tlsc' : ports.secure === null ? '' : '--tls',
    `--auth PLAIN --auth-user ${project.id} --auth-password rk_…`,
    `--from hello@${sender} --to you@example.com --header 'Subject: Hello'`,
  ]
    .filter(Boolean)
    .join(' \\\n  ');
  return (
    <div className="stack">
      <Card title="Send by SMTP">
        <div className="stack">
          <p className="muted">
            For a CMS, an auth server or a cron job. Each recipient gets an email of their own, listed under Emails.
          </p>
          <dl className="facts">
            {rows.flatMap(([name, value]) => [
              <dt key={`${name} name`}>{name}</dt>,
              <dd key={name} className="row">
                <code>{value}</code>
                <CopyButton text={value} what={name.toLowerCase()} />
              </dd>,
            ])}
            <dt>Password</dt>
            <dd>A key that may send emails</dd>
          </dl>
          {ports.secure === null ? (
            <Note tone="warn">Without a certificate only programs on the same machine can sign in.</Note>
          ) : null}
          {isAdmin ? (
            <div>
              <Button variant="primary" onClick={() => change({ tab: 'keys', dialog: 'new-key', preset: 'send' })}>
                Create a key for SMTP
              </Button>
            </div>
          ) : (
            <Note>Ask an admin or the owner for a key.</Note>
          )}
        </div>
      </Card>
      <Card title="Try it">
        <div className="stack">
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1) */}
          <section className="json" tabIndex={0} aria-label="swaks command">
            <pre>{line}</pre>
          </section>
          <div>
            <CopyButton text={line} what="the command" />
          </div>
        </div>
      </Card>
      <Clients project={project.id} />
    </div>
  );
}

type Client = components['schemas']['SmtpClient'];

/** Lists the latest SMTP sessions, so that a person who sets up a client sees why it is refused. */
function Clients({ project }: { project: string }) {
  const clients = useQuery({
    queryKey: ['smtp-clients', project],
    refetchInterval: 10_000,
    queryFn: () => answer(api.GET('/projects/{id}/smtp-clients', { params: { path: { id: project } } })),
  });
  return (
    <Card title="Recent connections">
      <Shown query={clients}>
        {(rows) =>
          rows.length === 0 ? (
            <p className="muted">No program has signed in within 30 days. Run the command above to try it.</p>
          ) : (
            <Table
              label="Programs that send by SMTP"
              rows={rows}
              rowKey={({ ip, credential, key }) => `${ip} ${credential} ${key ?? ''}`}
              columns={[
                { key: 'from', title: 'From', cell: ({ ip }) => <code>{ip}</code> },
                { key: 'key', title: 'Key', cell: (client) => <span dir="auto">{keyOf(client)}</span> },
                { key: 'last', title: 'Last seen', cell: ({ lastAt }) => <Timestamp at={lastAt} /> },
                { key: 'accepted', title: 'Last accepted', cell: ({ acceptedAt }) => <Timestamp at={acceptedAt} /> },
                { key: 'refused', title: 'Last refused', cell: ({ refusedAt }) => <Timestamp at={refusedAt} /> },
                { key: 'why', title: 'Refusal', cell: ({ refusal }) => <span dir="auto">{refusal ?? '–'}</span> },
              ]}
            />
          )
        }
      </Shown>
    </Card>
  );
}

function keyOf({ credential, key }: Client): string {
  if (credential === 'secret') return 'Secret key';
  return credential === 'unknown' ? 'Wrong key' : (key ?? 'Deleted key');
}

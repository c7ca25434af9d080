import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { answer, api } from '../../../api/client.ts';
import type { components } from '../../../api/schema.d.ts';
import { useProjectId } from '../../../app/address.ts';
import { Badge, type Tone } from '../../../ui/Badge.tsx';
import { Button } from '../../../ui/Button.tsx';
import { CopyButton } from '../../../ui/CopyButton.tsx';
import { Card, Page } from '../../../ui/Page.tsx';
import { ShownPage } from '../../../ui/ShownPage.tsx';
import { saveFile } from '../../../ui/save-file.ts';
import { Table } from '../../../ui/Table.tsx';
import { Timestamp } from '../../../ui/Timestamp.tsx';
import { count } from '../../../words/numbers.ts';
import { SuppressionCard } from './SuppressionCard.tsx';

type Erasure = components['schemas']['Erasure'];
type Step = Erasure['steps'][number];

const states: Record<Step['state'], { name: string; tone: Tone }> = {
  running: { name: 'Running', tone: 'info' },
  done: { name: 'Done', tone: 'good' },
  waiting: { name: 'Waiting', tone: 'warn' },
};
const titles: Record<Erasure['status'], string> = {
  RUNNING: 'Erasing a contact',
  WAITING: 'Contact erased',
  DONE: 'Contact erased',
};

/** Verifies a certificate with Node alone. */
const verifyCommand = `node -e 'const c = JSON.parse(require("fs").readFileSync(process.argv[1])); console.log(require("crypto").verify(null, Buffer.from(c.json), c.publicKey, Buffer.from(c.signature, "base64")) ? "genuine" : "NOT genuine")' certificate.json`;

/** An erasure: its steps, live, and the certificate. */
export function ErasurePage() {
  const project = useProjectId();
  const { erasure: id = '' } = useParams({ strict: false });
  const erasure = useQuery({
    queryKey: ['erasures', project, id],
    queryFn: () => answer(api.GET('/erasures/{id}', { params: { path: { id } } })),
    refetchInterval: ({ state }) => (state.data?.status === 'RUNNING' ? 1_000 : false),
  });
  const above = (
    <Link to="/app/$project/erasures" params={{ project }}>
      Erasures
    </Link>
  );
  return (
    <ShownPage query={erasure} above={above}>
      {(body) => (
        <Page title={titles[body.status]} about={<About erasure={body} />} above={above}>
          <div className="stack">
            <Table
              label="Steps of the erasure"
              rows={body.steps.filter(({ rows, state }) => rows !== 0 || state !== 'done')}
              rowKey={({ system, what }) => `${system} ${what}`}
              columns={[
                { key: 'system', title: 'System', cell: ({ system }) => system },
                { key: 'what', title: 'What', cell: ({ what }) => what },
                { key: 'rows', title: 'Rows', number: true, cell: ({ rows }) => (rows === null ? '–' : count(rows)) },
                { key: 'state', title: 'State', cell: (step) => <State step={step} /> },
              ]}
            />
            <SuppressionCard erasure={body} />
            {body.mentions.length > 0 ? <Mentions mentions={body.mentions} /> : null}
            {body.certificate ? <CertificateCard id={body.id} certificate={body.certificate} /> : null}
          </div>
        </Page>
      )}
    </ShownPage>
  );
}

function About({ erasure: { status, requestedAt, reference } }: { erasure: Erasure }) {
  return (
    <span role="status">
      Requested <Timestamp at={requestedAt} />
      {reference ? ` (${reference})` : ''}.{' '}
      {status === 'RUNNING'
        ? 'This page updates by itself.'
        : status === 'WAITING'
          ? 'Nothing is left here. The certificate becomes final when the remaining retention periods have passed.'
          : 'Nothing is left, and the certificate is final.'}
    </span>
  );
}

function State({ step: { state, until } }: { step: Step }) {
  return (
    <>
      <Badge tone={states[state].tone}>{states[state].name}</Badge>
      {until ? (
        <div className="text-sm text-muted">
          until <Timestamp at={until} after />
        </div>
      ) : null}
    </>
  );
}

function Mentions({ mentions }: { mentions: Erasure['mentions'] }) {
  return (
    <Card title="Still mentioned">
      <p>Your own content names the address. It was not changed: edit it yourself.</p>
      <ul className="mt-2 list-disc pl-5">
        {mentions.map(({ type, count: mentioned, ids }) => (
          <li key={type} className="break">
            {type} ({count(mentioned)}): <code>{ids.join(', ')}</code>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function CertificateCard({ id, certificate }: { id: string; certificate: NonNullable<Erasure['certificate']> }) {
  const project = useProjectId();
  const verification = useQuery({
    queryKey: ['erasures', project, id, 'verify'],
    queryFn: () => answer(api.GET('/erasures/{id}/verify', { params: { path: { id } } })),
  });
  const save = () =>
    saveFile(new Blob([JSON.stringify(certificate, null, 2)], { type: 'application/json' }), 'certificate.json');
  return (
    <Card title="Certificate">
      <div className="stack">
        <p>
          Signed with this project’s key (Ed25519).{' '}
          {verification.data ? (
            <Badge tone={verification.data.valid ? 'good' : 'bad'}>
              {verification.data.valid ? 'Verified' : 'Not valid'}
            </Badge>
          ) : null}
        </p>
        <div>
          <Button variant="primary" onClick={save}>
            Download certificate
          </Button>
        </div>
        <p>Anyone can verify the file with Node.js, without this service:</p>
        <div className="row items-start">
          <code className="break min-w-0 flex-1 rounded bg-sunken p-2 text-sm">{verifyCommand}</code>
          <CopyButton text={verifyCommand} what="verify command" />
        </div>
      </div>
    </Card>
  );
}

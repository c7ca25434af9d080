import { shareOf } from '@fernpost/email-document';
import { Link } from '@tanstack/react-router';
import { useProjectId } from '../../../app/address.ts';
import { Figure } from '../../../ui/Figure.tsx';
import { Note } from '../../../ui/States.tsx';
import { Table } from '../../../ui/Table.tsx';
import { count, counted } from '../../../words/numbers.ts';
import { useKnownVariables } from '../../mail/variables.ts';
import type { DryRun } from './dry-run.ts';

const problems: Record<DryRun['problems'][number]['kind'], string> = {
  render: 'The email can’t be rendered',
  clipped: 'Larger than 102 kB: Gmail cuts it off',
  'empty link': 'A link without an address',
  'http image': 'An image that isn’t loaded over HTTPS',
  'no text': 'No text part',
};

/** Shows the findings of a check: problems first, then skipped recipients, then destinations. */
export function Findings({ run }: { run: DryRun }) {
  const { problems: found, missing, leftOut, byProvider, audience, wouldSend, sample, rendered } = run;
  const known = useKnownVariables();
  const checked = sample === 'all' ? wouldSend : rendered;
  const mostOf = (many: number) =>
    many * 2 > checked && many < checked ? ` for most of ${counted(checked, 'contact')}` : '';
  const rows = [
    ...found.map(({ kind, count: many, example }) => ({
      what: problems[kind],
      many,
      examples: example ? [example] : [],
    })),
    ...missing.map(({ variable, contacts, examples }) => ({
      what: `“${variable}” is empty${mostOf(contacts)}${shareOf(variable, known)}`,
      many: contacts,
      examples,
    })),
  ];
  return (
    <>
      <dl className="figures">
        <Figure name="Audience" value={count(audience)} />
        <Figure name="Would be sent" value={count(wouldSend)} />
        <Figure name="Skipped" value={count(leftOut.reduce((sum, each) => sum + each.count, 0))} />
      </dl>
      {sample === 'all' ? null : (
        <Note>{counted(rendered, 'message')} rendered as a sample. Problems are counted within the sample.</Note>
      )}
      {rows.length === 0 ? <Note tone="good">No problems found.</Note> : <Problems rows={rows} />}
      {byProvider.length > 0 ? (
        <p className="muted">
          Most go to{' '}
          {byProvider
            .slice(0, 3)
            .map(({ domain, count: many }) => `${domain} (${count(many)})`)
            .join(', ')}
          .
        </p>
      ) : null}
    </>
  );
}

interface ProblemRow {
  what: string;
  many: number;
  examples: readonly { contactId: string; email: string }[];
}

function Problems({ rows }: { rows: readonly ProblemRow[] }) {
  const project = useProjectId();
  return (
    <Table
      label="Problems"
      rows={rows}
      rowKey={({ what }) => what}
      columns={[
        { key: 'what', title: 'Problem', cell: ({ what }) => what },
        { key: 'many', title: 'Affects', cell: ({ many }) => counted(many, 'contact') },
        {
          key: 'examples',
          title: 'For example',
          cell: ({ examples }) =>
            examples.map(({ contactId, email }) => (
              <div key={contactId}>
                <Link
                  className="inline-block min-h-6"
                  to="/app/$project/contacts/$contact"
                  params={{ project, contact: contactId }}
                >
                  {email}
                </Link>
              </div>
            )),
        },
      ]}
    />
  );
}

import { useQuery } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { answer, api } from '../../api/client.ts';
import { useDialog, useFilters, useProjectId } from '../../app/address.ts';
import { ChoiceFilter } from '../../app/filters.tsx';
import { usePages } from '../../app/pages.ts';
import { Button } from '../../ui/Button.tsx';
import { EndlessRows } from '../../ui/EndlessRows.tsx';
import { TextField } from '../../ui/Field.tsx';
import { Page } from '../../ui/Page.tsx';
import { SearchField } from '../../ui/SearchField.tsx';
import { Empty, Shown } from '../../ui/States.tsx';
import { Tabs } from '../../ui/Tabs.tsx';
import { isAddress } from '../../words/sentences.ts';
import { dayText } from '../../words/times.ts';
import { EmailRow } from './EmailRow.tsx';
import { ExportDialog } from './ExportDialog.tsx';
import { sources, statuses } from './email.ts';
import { emailFilters, emailQuery, isNarrow, periods } from './filters.ts';
import { Scheduled } from './Scheduled.tsx';

const rowsPerPage = 50;

/** Everything that was sent, to anybody, by any way; and what waits for its time. */
export function Emails() {
  const [{ tab }, change] = useFilters();
  return (
    <Page title="Emails" about="Every email of this project: sent, scheduled, skipped or failed.">
      <Tabs
        label="Emails"
        value={tab === 'scheduled' ? 'scheduled' : 'all'}
        tabs={[
          { key: 'all', name: 'All', content: <Everything /> },
          { key: 'scheduled', name: 'Scheduled', content: <Scheduled /> },
        ]}
        onChange={(key) => change({ tab: key === 'all' ? undefined : key })}
      />
    </Page>
  );
}

function Everything() {
  const project = useProjectId();
  const [filters, change] = useFilters();
  const { to = '', tag = '' } = filters;
  const isTag = tag === '' || tag.indexOf(':') > 0;
  const isWhole = (to === '' || isAddress(to)) && isTag;
  const emails = usePages({
    queryKey: ['emails', project, Object.fromEntries(emailFilters.map((name) => [name, filters[name]]))],
    enabled: isWhole,
    fetchPage: (cursor, signal) =>
      answer(api.GET('/emails', { params: { query: { limit: rowsPerPage, cursor, ...emailQuery(filters) } }, signal })),
    // While mail of the first page is on its way, and somebody looks at that page alone.
    refetchInterval: ({ state: { data } }) =>
      data?.pages.length === 1 &&
      data.pages[0]?.data.some(({ status: each }) => each === 'PENDING' || each === 'SENDING')
        ? 5_000
        : false,
  });
  const isFiltered = emailFilters.some((name) => filters[name]);
  return (
    <>
      <Filters isNarrow={isNarrow(filters)} isWhole={isWhole} />
      {to !== '' && !isAddress(to) ? (
        <Addresses text={to} onChoose={(address) => change({ to: address })} />
      ) : isTag ? (
        <EndlessRows
          label="Emails"
          query={emails}
          rowsOf={(page) => page.data}
          searching={progressOf(emails.data?.pages.at(-1))}
          rowKey={({ id }) => id}
          empty={
            isFiltered ? (
              <Empty title="No emails match">
                Try other filters or a longer period. Emails of campaigns are found by the subject you wrote, with its
                variables.
              </Empty>
            ) : (
              <Empty title="No emails in the last 30 days">
                Send one with the API, over SMTP, or with a campaign or a workflow.
              </Empty>
            )
          }
        >
          {(email) => <EmailRow email={email} />}
        </EndlessRows>
      ) : (
        <Empty title="Type a full tag">A tag has a name and a value, for example order:A-17.</Empty>
      )}
    </>
  );
}

function Filters({ isNarrow, isWhole }: { isNarrow: boolean; isWhole: boolean }) {
  const [{ to = '', tag = '', subject = '', period, from, until }, change] = useFilters();
  const [dialog, open] = useDialog();
  return (
    <div className="filters">
      <SearchField label="Recipient" value={to} onChange={(text) => change({ to: text.trim() })} />
      <SearchField label="Subject" value={subject} onChange={(text) => change({ subject: text.trim() })} />
      <SearchField label="Tag (name:value)" value={tag} onChange={(text) => change({ tag: text.trim() })} />
      <ChoiceFilter
        name="status"
        label="Status"
        all="Any status"
        choices={Object.entries(statuses).map(([value, { name }]) => [value, name])}
      />
      <ChoiceFilter name="source" label="Source" all="Any source" choices={Object.entries(sources)} />
      <ChoiceFilter
        name="period"
        label="Time"
        all={isNarrow ? 'All time' : 'Last 30 days'}
        choices={Object.entries(periods).filter(([value]) => isNarrow || value !== '30')}
      />
      {period === 'dates' ? (
        <>
          <TextField
            label="From"
            type="date"
            value={from ?? ''}
            onChange={(event) => change({ from: event.target.value })}
          />
          <TextField
            label="To"
            type="date"
            hint={isNarrow ? undefined : 'At most 31 days'}
            value={until ?? ''}
            onChange={(event) => change({ until: event.target.value })}
          />
        </>
      ) : null}
      <Button disabled={!isWhole} onClick={() => open('export')}>
        <Download aria-hidden /> Export
      </Button>
      {dialog === 'export' && isWhole ? <ExportDialog onClose={() => open(null)} /> : null}
    </div>
  );
}

/** How far back a search has come that looks at many emails and finds few; undefined for an ordinary page. */
function progressOf(page: { data: readonly unknown[]; lookedBackTo: string | null } | undefined): string | undefined {
  if (!page?.lookedBackTo || page.data.length === rowsPerPage) return undefined;
  return `Searched back to ${dayText(Date.parse(page.lookedBackTo))}`;
}

/** Mail is found by whole addresses: what is typed so far leads to those of contacts. */
function Addresses({ text, onChoose }: { text: string; onChoose: (address: string) => void }) {
  const project = useProjectId();
  const contacts = useQuery({
    queryKey: ['contacts', project, 'addresses', text],
    queryFn: async ({ signal }) =>
      (await answer(api.GET('/contacts', { params: { query: { search: text, limit: 8 } }, signal }))).data,
  });
  return (
    <Shown query={contacts}>
      {(found) =>
        found.length === 0 ? (
          <Empty title="No contact has this address">Type the full address of a recipient.</Empty>
        ) : (
          <section className="stack" aria-label="Matching addresses">
            <h2>Choose a recipient</h2>
            <ul className="row">
              {found.map(({ id, email }) => (
                <li key={id}>
                  <Button size="small" onClick={() => onChoose(email)}>
                    {email}
                  </Button>
                </li>
              ))}
            </ul>
          </section>
        )
      }
    </Shown>
  );
}

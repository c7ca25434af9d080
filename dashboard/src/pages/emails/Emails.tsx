import { useQuery } from '@tanstack/react-query';
import { answer, api } from '../../api/client.ts';
import { useFilters, useProjectId } from '../../app/address.ts';
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
import { EmailRow } from './EmailRow.tsx';
import { type EmailSummary, sources, statuses } from './email.ts';
import { Scheduled } from './Scheduled.tsx';

const dayMs = 86_400_000;
const periods = { '1': 'Last 24 hours', '7': 'Last 7 days', '30': 'Last 30 days', dates: 'Between two days' } as const;

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
  const [{ to = '', tag = '', subject = '', status, source, period, from, until }, change] = useFilters();
  const isNarrow = to !== '' || tag !== '';
  const isTag = tag === '' || tag.indexOf(':') > 0;
  const emails = usePages({
    queryKey: ['emails', project, { to, tag, subject, status, source, period, from, until }],
    enabled: (to === '' || isAddress(to)) && isTag,
    fetchPage: (cursor, signal) =>
      answer(
        api.GET('/emails', {
          params: {
            query: {
              limit: 50,
              cursor,
              ...(to ? { to } : {}),
              ...(tag ? { tag } : {}),
              ...(subject ? { subject } : {}),
              ...(status ? { status: status as EmailSummary['status'] } : {}),
              ...(source ? { source: source as EmailSummary['source'] } : {}),
              ...spanOf(period, from, until, isNarrow),
            },
          },
          signal,
        }),
      ),
    // While mail of the first page is on its way, and somebody looks at that page alone.
    refetchInterval: ({ state: { data } }) =>
      data?.pages.length === 1 &&
      data.pages[0]?.data.some(({ status: each }) => each === 'PENDING' || each === 'SENDING')
        ? 5_000
        : false,
  });
  const isFiltered = isNarrow || Boolean(subject || status || source || period);
  return (
    <>
      <Filters isNarrow={isNarrow} />
      {to !== '' && !isAddress(to) ? (
        <Addresses text={to} onChoose={(address) => change({ to: address })} />
      ) : isTag ? (
        <EndlessRows
          label="Emails"
          query={emails}
          rowsOf={(page) => page.data}
          rowKey={({ id }) => id}
          empty={
            isFiltered ? (
              <Empty title="No emails match">Try other filters or a longer time.</Empty>
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
        <Empty title="Type a whole tag">A tag has a name and a value, for example order:A-17.</Empty>
      )}
    </>
  );
}

function Filters({ isNarrow }: { isNarrow: boolean }) {
  const [{ to = '', tag = '', subject = '', period, from, until }, change] = useFilters();
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
    </div>
  );
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
          <Empty title="No contact has this address">Type the whole address of a recipient.</Empty>
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

// Days are those of the viewer; the last one belongs to the span.
function spanOf(period: string | undefined, from: string | undefined, until: string | undefined, isNarrow: boolean) {
  if (period === 'dates')
    return {
      ...(from ? { from: new Date(`${from}T00:00`).toISOString() } : isNarrow ? {} : daysBack(30, until)),
      ...(until ? { until: new Date(midnightAfter(until)).toISOString() } : {}),
    };
  if (period === undefined && isNarrow) return {};
  return daysBack(Number(period ?? 30));
}

function daysBack(days: number, until?: string) {
  const end = until ? midnightAfter(until) : Date.now();
  return { from: new Date(end - days * dayMs).toISOString() };
}

function midnightAfter(day: string): number {
  const date = new Date(`${day}T00:00`);
  return date.setDate(date.getDate() + 1);
}

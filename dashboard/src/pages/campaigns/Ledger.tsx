import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { answer, api } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';
import { useFilters, useProjectId } from '../../app/address.ts';
import { ChoiceFilter } from '../../app/filters.tsx';
import { usePages } from '../../app/pages.ts';
import { Address } from '../../ui/Address.tsx';
import { Badge, type Tone } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { EndlessRows } from '../../ui/EndlessRows.tsx';
import { Card } from '../../ui/Page.tsx';
import { Empty, Problem } from '../../ui/States.tsx';
import { saveFile } from '../../ui/save-file.ts';
import { Timestamp } from '../../ui/Timestamp.tsx';
import { count } from '../../words/numbers.ts';
import { AskWhy, WhyButton } from '../explain/Why.tsx';

const verdicts = {
  handed_over: { name: 'Sent', tone: 'good' },
  skipped: { name: 'Skipped', tone: 'warn' },
  failed: { name: 'Failed', tone: 'bad' },
  unknown: { name: 'Unconfirmed', tone: 'warn' },
  pending: { name: 'Pending', tone: 'info' },
} as const satisfies Record<string, { name: string; tone: Tone }>;
// Of those that are pending.
const onHold = { name: 'On hold', tone: 'warn' } as const;

/** What recipients did or did not do with a campaign, by its name in the API. */
export const deeds = {
  sent: 'Sent',
  delivered: 'Delivered',
  opened: 'Opened',
  clicked: 'Clicked',
  not_opened: 'Did not open or click',
  not_clicked: 'Did not click',
  bounced: 'Bounced',
  complained: 'Reported as spam',
  unsubscribed: 'Unsubscribed',
} as const;
export type Deed = keyof typeof deeds;
const isDeed = (text: string): text is Deed => Object.hasOwn(deeds, text);

const listId = 'recipients';

/** Leads from a number to the recipients whom it counts, in the list below on the page. */
export function RecipientsLink({ did, link, children }: { did: Deed; link?: string; children: ReactNode }) {
  return (
    <Link
      className="text-inherit no-underline hover:underline"
      to="."
      search={(before) => ({ ...before, did, link, verdict: undefined })}
      resetScroll={false}
      onClick={() => document.getElementById(listId)?.focus()}
    >
      {children}
    </Link>
  );
}

type Row = Required<components['schemas']['CampaignRecipient']>;

/** Says why no recipients are listed: no filter is to blame where none is set. */
function emptyTitle(isFiltered: boolean, recipients: number): string {
  if (isFiltered) return 'No recipients match this filter';
  return recipients > 0 ? 'Recipients appear here as they are processed' : 'No recipients';
}

/** The filters of the list in the address, as the API takes them. */
function useLedgerFilters() {
  const [{ verdict = '', did: asked = '', link: clicked }, change] = useFilters();
  const did = isDeed(asked) ? asked : undefined;
  const link = did === 'clicked' ? clicked : undefined;
  const isFiltered = verdict !== '' || did !== undefined;
  return [{ verdict: (verdict || 'all') as 'all', did, link, isFiltered }, change] as const;
}

/** Lists the outcome of every recipient, one row each. */
export function Ledger({
  campaign,
  recipients,
  isSending,
  hasVersions,
}: {
  campaign: string;
  recipients: number;
  isSending: boolean;
  /** Whether its content was revised, so that recipients differ in what they got. */
  hasVersions: boolean;
}) {
  const project = useProjectId();
  const [{ isFiltered, ...filters }, change] = useLedgerFilters();
  const { did, link } = filters;
  const path = { id: campaign };
  const rows = usePages({
    queryKey: ['campaigns', project, campaign, 'ledger', filters, isSending],
    fetchPage: (cursor, signal) =>
      answer(
        api.GET('/campaigns/{id}/recipients', { params: { path, query: { limit: 100, cursor, ...filters } }, signal }),
      ),
    // Rows follow the figures above. A list that somebody has scrolled stays as they read it.
    refetchInterval: ({ state: { data } }) =>
      (isSending || (recipients > 0 && !isFiltered && data?.pages[0]?.data.length === 0)) &&
      (data?.pages.length ?? 0) < 2
        ? 3_000
        : false,
  });
  const download = useMutation({
    mutationFn: () =>
      answer(
        api.GET('/campaigns/{id}/recipients', {
          params: { path, query: { format: 'csv', ...filters } },
          parseAs: 'blob',
        }),
      ),
    onSuccess: (file) => saveFile(file, `recipients-${campaign}.csv`),
  });
  const total = rows.data?.pages[0]?.total ?? null;
  return (
    <Card
      title={did && total !== null ? `Recipients: ${deeds[did].toLowerCase()} (${count(total)})` : 'Recipients'}
      id={listId}
    >
      <div className="filters">
        <ChoiceFilter
          name="verdict"
          label="Status"
          all="All"
          choices={Object.entries(verdicts).map(([value, { name }]) => [value, name])}
        />
        <ChoiceFilter name="did" label="Activity" all="Any activity" choices={Object.entries(deeds)} />
        {link === undefined ? null : (
          <Button onClick={() => change({ link: undefined })} aria-label={`Show clicks on any link, not only ${link}`}>
            <span className="max-w-60 truncate">{link}</span>
            <X aria-hidden />
          </Button>
        )}
        <Button busy={download.isPending} onClick={() => download.mutate()}>
          Download as CSV
        </Button>
        <AskWhy about={{ campaignId: campaign }} />
      </div>
      {download.error ? <Problem error={download.error} /> : null}
      <EndlessRows
        label="Recipients"
        query={rows}
        // Lists by verdict; those by type have other rows and are not asked for here.
        rowsOf={(page) => page.data as Row[]}
        rowKey={({ emailId }) => emailId}
        empty={<Empty title={emptyTitle(isFiltered, recipients)} />}
      >
        {(row) => <Recipient row={row} campaign={campaign} hasVersions={hasVersions} />}
      </EndlessRows>
    </Card>
  );
}

function Recipient({ row, campaign, hasVersions }: { row: Row; campaign: string; hasVersions: boolean }) {
  const project = useProjectId();
  const state = row.heldUntil ? onHold : verdicts[row.verdict];
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 @2xl:grid @2xl:grid-cols-[minmax(0,2fr)_7rem_minmax(0,2fr)_9rem_auto_auto]">
      <Link className="break" to="/app/$project/contacts/$contact" params={{ project, contact: row.contactId }}>
        <Address>{row.email}</Address>
      </Link>
      {'verdict' in row ? <Badge tone={state.tone}>{state.name}</Badge> : null}
      <span className="break muted">
        {row.heldUntil ? (
          <>
            Quiet hours until <Timestamp at={row.heldUntil} after />
          </>
        ) : (
          row.reason
        )}
        {hasVersions && row.version !== null ? <Badge>{`Version ${row.version}`}</Badge> : null}
      </span>
      <span className="muted">
        <Timestamp at={row.occurredAt} />
      </span>
      <Link
        to="/app/$project/emails/$email"
        params={{ project, email: row.emailId }}
        aria-label={`View email to ${row.email}`}
      >
        View email
      </Link>
      <WhyButton contact={row.contactId} about={{ campaignId: campaign }} row={row.email} />
    </div>
  );
}

import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import type { paths } from '../../api/schema.d.ts';
import { useProjectId } from '../../app/address.ts';
import { Badge, type Tone } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { EndlessRows } from '../../ui/EndlessRows.tsx';
import { SelectField } from '../../ui/Field.tsx';
import { Card } from '../../ui/Page.tsx';
import { Empty } from '../../ui/States.tsx';
import { saveFile } from '../../ui/save-file.ts';
import { Timestamp } from '../../ui/Timestamp.tsx';
import './campaigns.css';

const verdicts = {
  handed_over: { name: 'Handed over', tone: 'good' },
  skipped: { name: 'Left out', tone: 'warn' },
  failed: { name: 'Failed', tone: 'bad' },
  unknown: { name: 'Unknown', tone: 'warn' },
  pending: { name: 'Waiting', tone: 'info' },
} as const satisfies Record<string, { name: string; tone: Tone }>;

type Row = Extract<
  paths['/campaigns/{id}/recipients']['get']['responses'][200]['content']['application/json']['data'][number],
  { verdict: unknown }
>;

/** What became of every recipient, one row for each. */
export function Ledger({ campaign, isSending }: { campaign: string; isSending: boolean }) {
  const project = useProjectId();
  const [verdict, setVerdict] = useState('');
  const path = { id: campaign };
  const rows = useInfiniteQuery({
    queryKey: ['campaigns', project, campaign, 'ledger', verdict, isSending],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      answer(
        api.GET('/campaigns/{id}/recipients', {
          params: { path, query: { limit: '100', cursor: pageParam, verdict: verdict || 'all' } },
          signal,
        }),
      ),
    getNextPageParam: (page) => page.cursor,
  });
  const download = async () => {
    const response = await fetch(`/campaigns/${campaign}/recipients?format=csv`, {
      headers: { 'X-Project-Id': project },
    });
    saveFile(await response.blob(), `recipients-${campaign}.csv`);
  };
  return (
    <Card title="Recipients">
      <div className="filters">
        <SelectField label="Verdict" value={verdict} onChange={(event) => setVerdict(event.target.value)}>
          <option value="">All</option>
          {Object.entries(verdicts).map(([value, { name }]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </SelectField>
        <Button onClick={() => void download()}>Download as CSV</Button>
      </div>
      <EndlessRows
        label="Recipients"
        query={rows}
        // Lists by verdict; those by type have other rows and are not asked for here.
        rowsOf={(page) => page.data as Row[]}
        rowKey={({ emailId }) => emailId}
        empty={<Empty title="Nobody has this verdict" />}
      >
        {(row) => (
          <div className="ledger-row">
            <span className="break">{row.email}</span>
            {'verdict' in row ? <Badge tone={verdicts[row.verdict].tone}>{verdicts[row.verdict].name}</Badge> : null}
            <span className="break muted">{'reason' in row ? row.reason : ''}</span>
            <span className="muted">
              <Timestamp at={row.occurredAt} />
            </span>
          </div>
        )}
      </EndlessRows>
    </Card>
  );
}

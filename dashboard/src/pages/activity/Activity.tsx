import { answer, api } from '../../api/client.ts';
import { useFilters, useProjectId } from '../../app/address.ts';
import { ChoiceFilter } from '../../app/filters.tsx';
import { usePages } from '../../app/pages.ts';
import { EndlessRows } from '../../ui/EndlessRows.tsx';
import { Page } from '../../ui/Page.tsx';
import { Empty } from '../../ui/States.tsx';
import { counted } from '../../words/numbers.ts';
import { ActivityRow } from './ActivityRow.tsx';
import { activityKinds, isDuplicate } from './kinds.ts';

/** Everything that happened in the project, newest first. */
export function Activity() {
  const project = useProjectId();
  const [{ types }] = useFilters();
  const feed = usePages({
    queryKey: ['activity', project, { types }],
    fetchPage: (cursor, signal) =>
      answer(api.GET('/activity', { params: { query: { limit: 100, cursor, types } }, signal })),
  });
  const total = feed.data?.pages[0]?.total;
  return (
    <Page
      title="Activity"
      about={total === undefined ? undefined : `${counted(total, 'entry', 'entries')} in the last 30 days`}
    >
      <div className="filters">
        <ChoiceFilter
          name="types"
          label="Type"
          all="All activity"
          choices={Object.entries(activityKinds)
            .filter(([type]) => !type.endsWith('scheduled'))
            .map(([type, { name }]) => [type, name])}
        />
      </div>
      <EndlessRows
        label="Activity"
        query={feed}
        // Who asks for events gets them all.
        rowsOf={(page) => (types ? page.data : page.data.filter((item) => !isDuplicate(item)))}
        rowKey={({ id }) => id}
        empty={<Empty title="No activity yet">Send an email or track an event to see it here.</Empty>}
      >
        {(item) => <ActivityRow item={item} />}
      </EndlessRows>
    </Page>
  );
}

import { useQuery } from '@tanstack/react-query';
import { answer, api } from '../../api/client.ts';
import { useFilters, useProjectId } from '../../app/address.ts';
import { ChoiceFilter, PeriodFilter } from '../../app/filters.tsx';
import { usePages } from '../../app/pages.ts';
import { EndlessRows } from '../../ui/EndlessRows.tsx';
import { Page } from '../../ui/Page.tsx';
import { SearchField } from '../../ui/SearchField.tsx';
import { Empty } from '../../ui/States.tsx';
import { groupedActivity, joinedGroups } from '../../words/activity-groups.ts';
import { counted } from '../../words/numbers.ts';
import { daysOf, ranges, startOf } from '../../words/ranges.ts';
import { ActivityGroupRow } from './ActivityGroupRow.tsx';
import { activityKinds, isDuplicate } from './kinds.ts';

/** Everything that happened in the project, newest first. */
export function Activity() {
  const project = useProjectId();
  const [{ types, days: chosen, contact = '' }, change] = useFilters();
  const days = daysOf(chosen);
  const startDate = startOf(days);
  const found = useQuery({
    queryKey: ['contacts', project, 'address', contact],
    enabled: contact !== '',
    queryFn: async () =>
      (await answer(api.GET('/contacts', { params: { query: { email: contact } } }))).data[0]?.id ?? null,
  });
  const contactId = contact === '' ? undefined : found.data;
  const feed = usePages({
    queryKey: ['activity', project, { types, startDate, contactId }],
    enabled: contact === '' || typeof contactId === 'string',
    fetchPage: (cursor, signal) =>
      answer(
        api.GET('/activity', {
          params: { query: { limit: 100, cursor, types, startDate, ...(contactId ? { contactId } : {}) } },
          signal,
        }),
      ),
  });
  const total = feed.data?.pages[0]?.total;
  return (
    <Page
      title="Activity"
      about={
        total === undefined ? undefined : `${counted(total, 'entry', 'entries')} in the ${ranges[days].toLowerCase()}`
      }
    >
      <div className="filters">
        <SearchField label="Contact email" value={contact} onChange={(text) => change({ contact: text.trim() })} />
        <ChoiceFilter
          name="types"
          label="Type"
          all="All activity"
          choices={Object.entries(activityKinds)
            .filter(([type]) => !type.endsWith('scheduled'))
            .map(([type, { name }]) => [type, name])}
        />
        <PeriodFilter />
      </div>
      {contactId === null ? (
        <Empty title="No contact has this address">Type the whole address, such as ada@example.com.</Empty>
      ) : (
        <EndlessRows
          label="Activity"
          query={feed}
          // Who asks for events gets them all.
          rowsOf={(page) => groupedActivity(types ? page.data : page.data.filter((item) => !isDuplicate(item)))}
          joined={joinedGroups}
          rowKey={({ first }) => first.id}
          empty={
            contact || types || chosen ? (
              <Empty title="No activity matches">Try other filters or a longer period.</Empty>
            ) : (
              <Empty title="No activity yet">Send an email or track an event to see it here.</Empty>
            )
          }
        >
          {(group) => <ActivityGroupRow group={group} />}
        </EndlessRows>
      )}
    </Page>
  );
}

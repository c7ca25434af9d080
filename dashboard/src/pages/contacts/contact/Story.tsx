import { answer, api } from '../../../api/client.ts';
import { useProjectId } from '../../../app/address.ts';
import { usePages } from '../../../app/pages.ts';
import { EndlessRows } from '../../../ui/EndlessRows.tsx';
import { Empty } from '../../../ui/States.tsx';
import { groupedActivity, joinedGroups } from '../../../words/activity-groups.ts';
import { ActivityGroupRow } from '../../activity/ActivityGroupRow.tsx';
import { isDuplicate } from '../../activity/kinds.ts';

/** Everything that happened to a contact. */
export function Story({ contact }: { contact: string }) {
  const project = useProjectId();
  const story = usePages({
    queryKey: ['activity', project, contact],
    fetchPage: (cursor, signal) =>
      answer(
        api.GET('/activity', {
          params: {
            query: { limit: 50, cursor, contactId: contact, startDate: '2000-01-01T00:00:00.000Z' },
          },
          signal,
        }),
      ),
  });
  return (
    <EndlessRows
      label="Activity of this contact"
      query={story}
      rowsOf={(page) => groupedActivity(page.data.filter((item) => !isDuplicate(item)))}
      joined={joinedGroups}
      rowKey={({ first }) => first.id}
      empty={<Empty title="No activity yet">Emails, events and workflows of this contact appear here.</Empty>}
    >
      {(group) => <ActivityGroupRow group={group} who={false} />}
    </EndlessRows>
  );
}

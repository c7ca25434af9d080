import { useInfiniteQuery } from '@tanstack/react-query';
import { answer, api } from '../../../api/client.ts';
import { useProjectId } from '../../../app/address.ts';
import { EndlessRows } from '../../../ui/EndlessRows.tsx';
import { Empty } from '../../../ui/States.tsx';
import { ActivityRow } from '../../activity/ActivityRow.tsx';
import { isToldTwice } from '../../activity/kinds.ts';

/** Everything that happened to a contact. */
export function Story({ contact }: { contact: string }) {
  const project = useProjectId();
  const story = useInfiniteQuery({
    queryKey: ['activity', project, contact],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      answer(
        api.GET('/activity', {
          params: {
            query: { limit: 50, cursor: pageParam, contactId: contact, startDate: '2000-01-01T00:00:00.000Z' },
          },
          signal,
        }),
      ),
    getNextPageParam: (page) => page.cursor,
  });
  return (
    <EndlessRows
      label="Activity of this contact"
      query={story}
      rowsOf={(page) => page.data.filter((item) => !isToldTwice(item))}
      rowKey={({ id }) => id}
      empty={<Empty title="No activity yet">Emails, events and workflows of this contact appear here.</Empty>}
    >
      {(item) => <ActivityRow item={item} who={false} />}
    </EndlessRows>
  );
}

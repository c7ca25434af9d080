import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/Dialog.tsx';
import { Card } from '../../ui/Page.tsx';
import { Problem, Shown } from '../../ui/States.tsx';
import { Table } from '../../ui/Table.tsx';
import { Timestamp } from '../../ui/Timestamp.tsx';
import { toast } from '../../ui/toasts.tsx';
import { deviceName } from './device.ts';

/** Where somebody is signed in. */
export function Sessions() {
  const [isAsking, setAsking] = useState(false);
  const queries = useQueryClient();
  const key = ['sessions'];
  const refresh = () => queries.invalidateQueries({ queryKey: key });
  const sessions = useQuery({
    queryKey: key,
    queryFn: async () => (await answer(api.GET('/users/@me/sessions'))).data,
  });
  const end = useMutation({
    mutationFn: (sessionId: string) =>
      answer(api.DELETE('/users/@me/sessions/{sessionId}', { params: { path: { sessionId } } })),
    onSuccess: () => toast('Session signed out'),
    onSettled: refresh,
  });
  return (
    <Card title="Sessions">
      {end.error ? <Problem error={end.error} /> : null}
      <Shown query={sessions}>
        {(all) => (
          <Table
            label="Sessions"
            rows={all}
            rowKey={({ id }) => id}
            columns={[
              {
                key: 'device',
                title: 'Device',
                cell: ({ userAgent, current }) => (
                  <span className="row" title={userAgent}>
                    {deviceName(userAgent)} {current ? <Badge tone="good">This session</Badge> : null}
                  </span>
                ),
              },
              { key: 'ip', title: 'Network address', cell: ({ ip }) => ip },
              { key: 'since', title: 'Signed in', cell: ({ createdAt }) => <Timestamp at={createdAt} /> },
              {
                key: 'action',
                title: 'Action',
                cell: ({ id, current, userAgent }) =>
                  current ? null : (
                    <Button size="small" onClick={() => end.mutate(id)}>
                      Sign out <span className="sr-only">{deviceName(userAgent)}</span>
                    </Button>
                  ),
              },
            ]}
          />
        )}
      </Shown>
      <p className="mt-3">
        <Button variant="danger" onClick={() => setAsking(true)}>
          Sign out everywhere else
        </Button>
      </p>
      {isAsking ? (
        <ConfirmDialog
          title="Sign out everywhere else?"
          action="Sign out other sessions"
          onConfirm={async () => {
            await answer(api.DELETE('/users/@me/sessions'));
            toast('You’re signed out everywhere else');
            await refresh();
          }}
          onClose={() => setAsking(false)}
        >
          Every other browser and app has to sign in again. This session stays.
        </ConfirmDialog>
      ) : null}
    </Card>
  );
}

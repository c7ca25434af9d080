import { useQuery } from '@tanstack/react-query';
import { answer, api } from '../../api/client.ts';
import { Card, Page } from '../../ui/Page.tsx';
import { Shown } from '../../ui/States.tsx';
import { PasswordForm } from './PasswordForm.tsx';
import { Sessions } from './Sessions.tsx';

const providers = { GOOGLE_OAUTH: 'Google', GITHUB_OAUTH: 'GitHub' } as const;

/** Your own account: how you sign in, and where you are signed in. */
export function AccountPage() {
  const account = useQuery({ queryKey: ['account'], queryFn: () => answer(api.GET('/users/@me/account')) });
  return (
    <Page title="Account">
      <Shown query={account}>
        {({ email, type }) => (
          <div className="stack">
            <p>
              You’re signed in as <strong>{email}</strong>.
            </p>
            {type === 'PASSWORD' ? (
              <PasswordForm email={email} />
            ) : (
              <Card title="Password">
                <p>You sign in with {providers[type]}, so there’s no password to change here.</p>
              </Card>
            )}
            <Sessions />
          </div>
        )}
      </Shown>
    </Page>
  );
}

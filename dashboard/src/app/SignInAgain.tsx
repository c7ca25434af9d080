import { useMutation, useQuery } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { reportSignedIn, signedOut } from '../api/signals.ts';
import { ProviderLinks } from '../pages/auth/ProviderLinks.tsx';
import { SignInForm } from '../pages/auth/SignInForm.tsx';
import { Button, buttonClass } from '../ui/Button.tsx';
import { Dialog } from '../ui/Dialog.tsx';
import { Note } from '../ui/States.tsx';
import { whoAmI } from './session.ts';

/** Asks for the password where the session has ended under somebody's hands; what they typed stays as it is. */
export function SignInAgain() {
  const isSignedOut = useSyncExternalStore(signedOut.subscribe, signedOut.get);
  const { data: user } = useQuery({ ...whoAmI, enabled: false });
  // Who signs in elsewhere, at a provider or in another window, has the session here as well.
  const check = useMutation({
    mutationFn: async () => {
      const response = await fetch('/users/@me');
      await response.body?.cancel();
      return response.ok;
    },
    onSuccess: (isSignedIn) => isSignedIn && reportSignedIn(),
  });
  if (!isSignedOut) return null;
  return (
    <Dialog
      title="Your session has ended"
      description="Sign in again to continue. Your work on this page is kept."
      onClose={() => undefined}
    >
      <SignInForm email={user?.email ?? ''} onSignedIn={reportSignedIn} />
      <ProviderLinks target="_blank" />
      {check.data === false ? <Note tone="warn">You’re not signed in yet.</Note> : null}
      <footer>
        <a className={buttonClass()} href="/auth/login">
          Leave this page
        </a>
        <Button busy={check.isPending} onClick={() => check.mutate()}>
          I signed in in another window
        </Button>
      </footer>
    </Dialog>
  );
}

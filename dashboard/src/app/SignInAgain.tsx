import { useQuery } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { reportSignedIn, signedOut } from '../api/signals.ts';
import { SignInForm } from '../pages/auth/SignInForm.tsx';
import { Dialog } from '../ui/Dialog.tsx';
import { whoAmI } from './session.ts';

/** Asks for the password where the session has ended under somebody's hands; what they typed stays as it is. */
export function SignInAgain() {
  const isSignedOut = useSyncExternalStore(signedOut.subscribe, signedOut.get);
  const { data: user } = useQuery({ ...whoAmI, enabled: false });
  if (!isSignedOut) return null;
  return (
    <Dialog
      title="Your session has ended"
      description="Sign in again to go on. Nothing on this page is lost."
      onClose={() => undefined}
    >
      <SignInForm email={user?.email ?? ''} onSignedIn={reportSignedIn} />
    </Dialog>
  );
}

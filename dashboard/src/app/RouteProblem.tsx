import { Link, useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { Unreachable } from '../api/errors.ts';
import { untilReachable } from '../api/signals.ts';
import { Page } from '../ui/Page.tsx';
import { Problem } from '../ui/States.tsx';

/** Shown in the place of a page that could not be loaded. */
export function RouteProblem({ error }: { error: unknown }) {
  const router = useRouter();
  useEffect(() => {
    if (error instanceof Unreachable) void untilReachable().then(() => router.invalidate());
  }, [error, router]);
  return (
    <Page title="This page couldn’t be loaded">
      <Problem error={error} again={() => void router.invalidate()} />
    </Page>
  );
}

/** There is no such address. */
export function NotFound() {
  return (
    <main className="mx-auto mt-[10dvh] flex w-[min(26rem,100%)] flex-col gap-4 p-4">
      <Page title="Page not found">
        <p>
          The address may be wrong, or the item was deleted. <Link to="/app">Back to your project</Link>.
        </p>
      </Page>
    </main>
  );
}

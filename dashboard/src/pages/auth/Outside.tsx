import type { ReactNode } from 'react';
import { Page } from '../../ui/Page.tsx';

/** The frame of the pages before the sign-in. */
export function Outside({ title, children }: { title: string; children: ReactNode }) {
  return (
    <main className="mx-auto flex w-[min(26rem,100%)] flex-col gap-4 px-4 pt-[10dvh] pb-4">
      <img src="/icon.svg" alt="Fernpost" width="48" height="48" />
      <Page title={title}>
        <div className="stack">{children}</div>
      </Page>
    </main>
  );
}

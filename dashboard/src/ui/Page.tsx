import { type ReactNode, useEffect } from 'react';

/** Names the window after what it shows. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Fernpost`;
  }, [title]);
}

/** A page: its title, what it is for, and what can be done. */
export function Page({
  title,
  about,
  above,
  actions,
  children,
}: {
  title: string;
  about?: ReactNode;
  /** The way back, where the page is one of many. */
  above?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  useTitle(title);
  return (
    <div>
      {above ? (
        <nav
          aria-label="Breadcrumb"
          className="break mb-1 text-sm text-muted [&_a]:text-muted [&_a]:no-underline [&_a:hover]:text-ink"
        >
          {above}
        </nav>
      ) : null}
      <header className="mb-5 flex flex-wrap items-start justify-between gap-3">
        <div className="min-w-0">
          <h1 className="text-xl" dir="auto">
            {title}
          </h1>
          {about ? <div className="mt-0.5 max-w-prose text-muted">{about}</div> : null}
        </div>
        {actions ? <div className="row">{actions}</div> : null}
      </header>
      {children}
    </div>
  );
}

/** A part of a page with a heading of its own; one with an `id` can be given the focus. */
export function Card({ title, id, children }: { title?: ReactNode; id?: string; children: ReactNode }) {
  return (
    <section
      data-slot="card"
      className="@container min-w-0 rounded-lg border border-line bg-surface p-4"
      {...(id === undefined ? {} : { id, tabIndex: -1 })}
    >
      {title ? <h2 className="mb-3">{title}</h2> : null}
      {children}
    </section>
  );
}

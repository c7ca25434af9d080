import { type ReactNode, useEffect } from 'react';

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
  useEffect(() => {
    document.title = `${title} · Posthorn`;
  }, [title]);
  return (
    <div className="page">
      {above ? (
        <nav aria-label="Breadcrumb" className="crumbs">
          {above}
        </nav>
      ) : null}
      <header>
        <div>
          <h1 dir="auto">{title}</h1>
          {about ? <p className="about">{about}</p> : null}
        </div>
        {actions ? <div className="actions">{actions}</div> : null}
      </header>
      {children}
    </div>
  );
}

/** A part of a page with a heading of its own. */
export function Card({ title, children }: { title?: ReactNode; children: ReactNode }) {
  return (
    <section className="card">
      {title ? <h2>{title}</h2> : null}
      {children}
    </section>
  );
}

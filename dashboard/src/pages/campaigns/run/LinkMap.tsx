import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { answer, api } from '../../../api/client.ts';
import { useProjectId } from '../../../app/address.ts';
import { Empty, Shown } from '../../../ui/States.tsx';
import { Table } from '../../../ui/Table.tsx';
import { count, counted } from '../../../words/numbers.ts';
import type { Campaign } from '../campaign.ts';
import { RecipientsLink } from '../Ledger.tsx';
import { type Clicks, comparableLink } from '../rules/results.ts';
import type { Results } from './results.ts';
import '../../mail/mail.css';

/** The links of a campaign with how many clicked them, drawn on the email and as a table. */
export function LinkMap({ campaign, links }: { campaign: Campaign; links: Results['links'] }) {
  const project = useProjectId();
  const { subject, body, type } = campaign;
  const mail = useQuery({
    queryKey: ['preview', project, subject, body, type, null],
    enabled: links.length > 0,
    retry: false,
    queryFn: () => answer(api.POST('/templates/preview', { body: { subject, body, type, contactId: null } })),
  });
  if (links.length === 0) return <Empty title="No clicks yet">Links appear here after the first click.</Empty>;
  return (
    <div className="grid items-start gap-4 @3xl:grid-cols-2">
      <Shown query={mail}>{({ html }) => <Drawn html={html} links={links} />}</Shown>
      <LinkTable links={links} />
    </div>
  );
}

function Drawn({ html, links }: { html: string; links: Results['links'] }) {
  const drawn = useMemo(() => {
    const clicks = new Map(links.map(({ link, recipients }) => [comparableLink(link), recipients]));
    return withCounts(html, clicks);
  }, [html, links]);
  return <iframe title="Clicks on the email" className="mail-preview scheme-light" sandbox="" srcDoc={drawn} />;
}

/** The email with a label at each link that says how many clicked it. The frame runs no scripts and opens nothing. */
function withCounts(html: string, clicks: Clicks): string {
  const page = new DOMParser().parseFromString(html, 'text/html');
  for (const link of page.querySelectorAll('a[href]')) {
    const clicked = clicks.get(comparableLink(link.getAttribute('href') ?? ''));
    if (clicked === undefined) continue;
    const label = page.createElement('span');
    label.textContent = counted(clicked, 'click');
    label.setAttribute(
      'style',
      'display:inline-block;margin:0 4px;padding:0 6px;border-radius:9px;background:#1a1a1a;color:#fff;font:600 11px/18px sans-serif;white-space:nowrap;vertical-align:middle',
    );
    link.after(label);
  }
  return page.documentElement.outerHTML;
}

function LinkTable({ links }: { links: Results['links'] }) {
  return (
    <Table
      label="Clicks by link"
      rows={links}
      rowKey={({ link }) => link}
      columns={[
        { key: 'link', title: 'Link', cell: ({ link }) => <span className="break">{link || 'Other links'}</span> },
        {
          key: 'recipients',
          title: 'Recipients',
          number: true,
          cell: ({ link, recipients }) =>
            link ? (
              <RecipientsLink did="clicked" link={link}>
                {count(recipients)}
              </RecipientsLink>
            ) : (
              count(recipients)
            ),
        },
        { key: 'clicks', title: 'Clicks', number: true, cell: ({ clicks }) => count(clicks) },
      ]}
    />
  );
}

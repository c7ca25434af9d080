import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { answer, api } from '../../api/client.ts';
import { useFilters, useProjectId } from '../../app/address.ts';
import { PeriodFilter } from '../../app/filters.tsx';
import { buttonClass } from '../../ui/Button.tsx';
import { DaysChart } from '../../ui/DaysChart.tsx';
import { Card, Page } from '../../ui/Page.tsx';
import { Empty, Shown } from '../../ui/States.tsx';
import { daysOf } from '../../words/ranges.ts';
import { DomainCard } from '../domains/DomainCard.tsx';
import { domainsOf } from '../domains/domain.ts';
import { Dmarc } from './Dmarc.tsx';
import { Receivers } from './Receivers.tsx';
import { ReputationLimits } from './ReputationLimits.tsx';

const lines = [
  ['bounces', 'Bounces', '--line-4'],
  ['complaints', 'Spam complaints', '--line-2'],
] as const;

/** How mail is received: against the limits, over time, by who receives it, and what the domains still lack. */
export function Deliverability() {
  const project = useProjectId();
  const [filters] = useFilters();
  const days = daysOf(filters.days);
  const query = useQuery({
    queryKey: ['deliverability', project, days],
    queryFn: () => answer(api.GET('/deliverability', { params: { query: { days: Number(days) } } })),
  });
  return (
    <Page title="Deliverability" about="Bounces and spam complaints, and the DNS records that keep email out of spam.">
      <div className="stack">
        <div className="filters">
          <PeriodFilter />
        </div>
        <Shown query={query}>
          {(found) => (
            <>
              <ReputationLimits {...found} />
              <Card title="Bounces and complaints by day">
                <DaysChart
                  label="Bounces and complaints by day"
                  lines={lines}
                  days={found.days}
                  total="sent"
                  empty={{ title: 'No emails in this period', text: 'Emails you send appear here.' }}
                />
              </Card>
              <Receivers {...found} />
            </>
          )}
        </Shown>
        <SenderDomains project={project} />
      </div>
    </Page>
  );
}

function SenderDomains({ project }: { project: string }) {
  const domains = useQuery(domainsOf(project));
  return (
    <Shown query={domains}>
      {(all) =>
        all.length === 0 ? (
          <Empty
            title="No domains yet"
            action={
              <Link to="/app/$project/domains" params={{ project }} className={buttonClass('primary')}>
                Add domain
              </Link>
            }
          >
            Add the domain of your From address to see how it is set up.
          </Empty>
        ) : (
          all.map((domain) => (
            <DomainCard key={domain.id} domain={domain} isAdmin={false}>
              <Dmarc id={domain.id} domain={domain.domain} />
            </DomainCard>
          ))
        )
      }
    </Shown>
  );
}

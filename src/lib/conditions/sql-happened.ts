import type { Activity, ActivityFilter, EventFilter, MailSource } from './condition.ts';
import { dataSql, type Parameters } from './sql-data.ts';

/** The rows that a filter on events or mail counts, as SQL over the alias `t` of their table. */
export interface HappenedRows {
  table: 'events' | 'emails';
  /** When a row happened. */
  instant: string;
  /** Which rows count, whenever they happened. */
  where: string;
}

/** The event that a mail has for each of its activities. */
export const eventOf: Record<Activity, string> = {
  sent: 'email.sent',
  delivered: 'email.delivery',
  opened: 'email.open',
  clicked: 'email.click',
  bounced: 'email.bounce',
  complained: 'email.complaint',
};

/** The rows that a filter counts, of the project alone, because the indexes begin with it. */
export function happenedRows(
  filter: EventFilter | ActivityFilter,
  projectId: string,
  now: Date,
  params: Parameters,
): HappenedRows {
  const project = `t.project_id = ${params.add(projectId, 'uuid')}`;
  if (filter.kind === 'event') {
    const tests = filter.where?.map((test) => dataSql(test, () => eventValues, now, params)) ?? [];
    const where = [project, `t.name = ${params.add(filter.name, 'text')}`, ...tests].join(' and ');
    return { table: 'events', instant: 't.created_at', where };
  }
  const { activity, of, link } = filter;
  if (link === undefined) {
    const where = `${project} and t.${activity}_at is not null${of ? ` and ${sentBy('t', of, params)}` : ''}`;
    return { table: 'emails', instant: `t.${activity}_at`, where };
  }
  // The row of a mail has the time of its first click alone; each click with its link is an event.
  const clicked = `t.name = ${params.add(eventOf[activity], 'text')} and t.data ->> 'link' = ${params.add(link, 'text')}`;
  const ofMail = of ? ` and exists (select from emails m where m.id = t.email_id and ${sentBy('m', of, params)})` : '';
  return { table: 'events', instant: 't.created_at', where: `${project} and ${clicked}${ofMail}` };
}

// As runs see the data of an event: a `{ value, persistent: false }` stands for its value.
const eventValues = `(case when t.data @? '$.*.persistent ? (@ == false)' then (
  select jsonb_object_agg(key, case when value ? 'value' and value -> 'persistent' = 'false' then value -> 'value' else value end)
  from jsonb_each(t.data)) else t.data end)`;

function sentBy(mail: string, { kind, id }: MailSource, params: Parameters): string {
  const source = params.add(id, 'uuid');
  if (kind === 'campaignId') return `${mail}.campaign_id = ${source}`;
  if (kind === 'templateId') return `${mail}.template_id = ${source}`;
  return `exists (select from automation_step_runs x where x.id = ${mail}.workflow_step_execution_id and x.step_id = ${source})`;
}

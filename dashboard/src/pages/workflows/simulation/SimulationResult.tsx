import type { ReactNode } from 'react';
import type { components } from '../../../api/schema.d.ts';
import { Note } from '../../../ui/States.tsx';
import { Table, tableClass } from '../../../ui/Table.tsx';
import { Timestamp } from '../../../ui/Timestamp.tsx';
import { stepText } from '../../../words/events.ts';
import { count, counted, locale } from '../../../words/numbers.ts';
import type { Graph } from '../graph/draft.ts';
import { stepNames } from '../graph/graph.ts';
import { mostSimulated } from '../graph/simulation/asked.ts';
import {
  type CountedRow,
  collisionTexts,
  mailDays,
  type Part,
  partDetail,
  partText,
  rowsOf,
  type Sides,
} from '../graph/simulation/counts.ts';
import type { Workflow } from '../workflow.ts';
import { SimulatedContacts } from './SimulatedContacts.tsx';

type Result = components['schemas']['WorkflowSimulationResult'];
type Counts = components['schemas']['WorkflowSimulationCounts'];

/** What a simulation came to: both sides beside each other, and whom the difference concerns. */
export function SimulationResult({
  jobId,
  workflow,
  result,
  at,
  graph,
  whose,
  sides,
}: {
  jobId: string;
  workflow: Workflow;
  result: Result;
  /** When the contacts enter; null where each has its own time. */
  at: string | null;
  graph: Graph;
  whose: string;
  sides: Sides;
}) {
  const { comparison } = result;
  const isEmpty = result.executions + (comparison?.counts.executions ?? 0) === 0;
  const known = new Map([...workflow.steps, ...graph.steps].map((step) => [step.id, step]));
  const templates = new Map([...known.values()].map(({ template }) => [template?.id ?? '', template?.name ?? '']));
  const nameOf = (stepId: string) =>
    stepText([...result.steps, ...(comparison?.counts.steps ?? [])].find((step) => step.stepId === stepId)?.name ?? '');
  return (
    <section className="stack" aria-label="Simulation">
      <p>
        {whose}{' '}
        {at ? (
          <>
            They enter <Timestamp at={at} after />.{' '}
          </>
        ) : null}
        {counted(result.contacts, comparison?.with === 'actual' ? 'run' : 'contact')}
        {result.gone > 0 ? `, of which ${count(result.gone)} no longer exist` : ''}.
      </p>
      <Limits result={result} />
      {isEmpty ? (
        <Note>
          {comparison?.with === 'actual'
            ? 'No finished runs were found.'
            : `No contacts would have entered the workflow.${refusedText(result)}`}
        </Note>
      ) : (
        <>
          <Agreement result={result} />
          <h3>All runs</h3>
          <Summary result={result} sides={sides} />
          <h3>Steps and paths</h3>
          <Steps rows={rowsOf(result, known)} sides={sides} hasOther={comparison !== null} />
          <Findings result={result} sides={sides} nameOf={nameOf} />
          <Mails result={result} sides={sides} />
          {comparison ? <Differences comparison={comparison} sides={sides} templates={templates} /> : null}
          <SimulatedContacts
            workflow={workflow.id}
            jobId={jobId}
            comparison={comparison}
            sides={sides}
            nameOf={nameOf}
          />
        </>
      )}
    </section>
  );
}

const refusals: Record<string, string> = {
  reentry: 'had been in the workflow, which does not allow re-entry',
  active: 'were in the workflow already',
};

function refusedText({ refused }: Pick<Counts, 'refused'>): string {
  const said = Object.entries(refused).map(
    ([why, number]) => `${counted(number, 'entry', 'entries')}: ${refusals[why] ?? why}`,
  );
  return said.length === 0 ? '' : ` Refused: ${said.join('; ')}.`;
}

const limits: Record<Result['unknown'][number]['code'], (contacts: string) => string> = {
  history: (contacts) => `For ${contacts}, data of that time is no longer kept: the oldest data that is kept was used.`,
  entries: (contacts) => `${contacts} would have entered more than 50 times; only the first 50 entries are simulated.`,
  events: (contacts) => `For ${contacts}, only the first 2,000 events were used.`,
  future: (contacts) =>
    `For ${contacts}, a run continues after now. Events to come are not known, so waits for them time out.`,
  settings: (contacts) => `For ${contacts}, project settings have changed since: today’s settings were used.`,
};

/** What the figures leave out. */
function Limits({ result: { more, unknown } }: { result: Result }) {
  if (!more && unknown.length === 0) return null;
  return (
    <Note tone="warn">
      <ul>
        {more ? <li>Limit reached: only the first {count(mostSimulated)} were simulated. There are more.</li> : null}
        {unknown.map(({ code, contacts }) => (
          <li key={code}>{limits[code](counted(contacts, 'contact'))}</li>
        ))}
      </ul>
    </Note>
  );
}

const notComparable = (reasons: Record<string, number>) =>
  Object.entries(reasons)
    .map(([reason, runs]) => `${count(runs)} ${reason}`)
    .join(', ');

/** Whether the simulation repeats what was recorded. */
function Agreement({ result: { comparison } }: { result: Result }) {
  const agreement = comparison?.agreement;
  if (!agreement) return null;
  const { agree, compared } = agreement;
  const others = notComparable(agreement.notComparable);
  return (
    <Note tone={agree === compared ? 'good' : 'bad'}>
      {count(agree)} of {counted(compared, 'run')} agree with what was recorded, step by step.
      {others ? ` Not comparable: ${others}.` : ''}
    </Note>
  );
}

interface SummaryRow {
  name: string;
  here: string;
  there: string;
}

function Summary({ result, sides }: { result: Result; sides: Sides }) {
  const other = result.comparison?.counts ?? null;
  const part = (counts: Counts, number: number): Part => ({
    count: number,
    of: counts.executions,
    inside: 0,
    failed: 0,
  });
  const row = (name: string, text: (counts: Counts) => string): SummaryRow => ({
    name,
    here: text(result),
    there: other === null ? '' : text(other),
  });
  const skipped = [...new Set([result, ...(other ? [other] : [])].flatMap(({ mails }) => Object.keys(mails.skipped)))];
  const refused = [...new Set([result, ...(other ? [other] : [])].flatMap((counts) => Object.keys(counts.refused)))];
  const rows = [
    row('Runs', ({ executions }) => count(executions)),
    ...ends.map(([end, name]) => row(name, (counts) => partText(part(counts, counts.ends[end])))),
    ...(result.goal || other?.goal
      ? [row('Reached the goal', (counts) => (counts.goal ? partText(part(counts, counts.goal.met)) : 'No goal'))]
      : []),
    row('Emails sent', ({ mails }) => count(mails.count)),
    ...skipped.map((why) => row(`Emails skipped: ${why}`, ({ mails }) => count(mails.skipped[why] ?? 0))),
    ...refused.map((why) => row(`Not entered: ${refusals[why] ?? why}`, (counts) => count(counts.refused[why] ?? 0))),
  ];
  return (
    <SideTable label="Summary" title="Of all runs" sides={sides} hasOther={other !== null}>
      {rows.map(({ name, here, there }) => (
        <SideRow key={name} name={name} cells={other === null ? [here] : [here, there]} />
      ))}
    </SideTable>
  );
}

const ends = [
  ['COMPLETED', 'Completed'],
  ['EXITED', 'Exited'],
  ['FAILED', 'Failed'],
  ['INSIDE', 'Still inside at the end'],
] as const;

/** A table of both sides beside each other, on a phone too. */
function SideTable({
  label,
  title,
  sides,
  hasOther,
  children,
}: {
  label: string;
  title: string;
  sides: Sides;
  hasOther: boolean;
  children: ReactNode;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1)
    <section className="overflow-x-auto rounded-lg border border-line" aria-label={label} tabIndex={0}>
      <table className={tableClass}>
        <thead>
          <tr>
            <th scope="col" className="text-start">
              {title}
            </th>
            <th scope="col" className="number">
              {sides.here}
            </th>
            {hasOther ? (
              <th scope="col" className="number">
                {sides.there}
              </th>
            ) : null}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}

function SideRow({ name, cells }: { name: ReactNode; cells: readonly ReactNode[] }) {
  const [here, there] = cells;
  return (
    <tr>
      <td className="break">{name}</td>
      <td className="number whitespace-nowrap">{here}</td>
      {cells.length > 1 ? <td className="number whitespace-nowrap">{there}</td> : null}
    </tr>
  );
}

/** How many runs reached each step and took each path, on both sides. */
function Steps({ rows, sides, hasOther }: { rows: readonly CountedRow[]; sides: Sides; hasOther: boolean }) {
  return (
    <SideTable label="Steps and paths" title="Step or path" sides={sides} hasOther={hasOther}>
      {rows.map(({ key, step, path, here, there }) => {
        const name =
          path === null ? (
            <>
              {stepText(step.name)} <span className="muted">{stepNames[step.type]}</span>
            </>
          ) : (
            <span className="ps-4">↳ {path}</span>
          );
        const parts = hasOther ? [here, there] : [here];
        return (
          <SideRow
            key={key}
            name={name}
            cells={parts.map((part, n) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the two sides never change places
              <Counted key={n} part={part} />
            ))}
          />
        );
      })}
    </SideTable>
  );
}

function Counted({ part }: { part: Part | null }) {
  const detail = partDetail(part);
  return (
    <>
      {partText(part)}
      {detail ? <span className="block text-sm whitespace-normal text-muted">{detail}</span> : null}
    </>
  );
}

/** What needs attention: steps that nobody reached, failures, and emails that may annoy. */
function Findings({ result, sides, nameOf }: { result: Result; sides: Sides; nameOf: (stepId: string) => string }) {
  const collisions = collisionTexts(result, sides);
  const { neverReached, failures } = result;
  return (
    <section className="stack" aria-label="Findings">
      <h3>Findings</h3>
      <ul className="list-disc ps-5">
        {neverReached.length > 0 ? (
          <li>
            {counted(neverReached.length, 'step was', 'steps were')} never reached:{' '}
            {neverReached.map(nameOf).join(', ')}
          </li>
        ) : (
          <li>Every step was reached.</li>
        )}
        {failures.map(({ stepId, error, count: runs }) => (
          <li key={`${stepId} ${error}`} className="break">
            {counted(runs, 'run')} failed at {nameOf(stepId) || 'other steps'}: {error}
          </li>
        ))}
        {failures.length === 0 ? <li>No run failed.</li> : null}
        {collisions.map((text) => (
          <li key={text}>{text}</li>
        ))}
        {collisions.length === 0 ? <li>No emails collide.</li> : null}
      </ul>
    </section>
  );
}

const dayFormat = new Intl.DateTimeFormat(locale, {
  weekday: 'short',
  month: 'short',
  day: 'numeric',
  timeZone: 'UTC',
});

/** Emails by the day at which they leave, as bars with their counts. */
function Mails({ result, sides }: { result: Result; sides: Sides }) {
  const days = mailDays(result);
  if (days.length === 0) return <p>No emails are sent.</p>;
  const most = Math.max(...days.flatMap(({ here, there }) => [here, there ?? 0]));
  const hasOther = result.comparison !== null;
  return (
    <section className="stack" aria-label="Emails by day">
      <h3>Emails by day</h3>
      <p className="muted">Days in the time zone {result.mails.timeZone}. Days without emails are left out.</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1) */}
      <section className="max-h-80 overflow-auto rounded-lg border border-line" aria-label="Days" tabIndex={0}>
        <table className={tableClass}>
          <thead>
            <tr>
              <th scope="col" className="text-start">
                Day
              </th>
              <th scope="col" className="text-start">
                {sides.here}
              </th>
              {hasOther ? (
                <th scope="col" className="text-start">
                  {sides.there}
                </th>
              ) : null}
            </tr>
          </thead>
          <tbody>
            {days.map(({ day, here, there }) => (
              <tr key={day}>
                <td className="w-0 whitespace-nowrap">{dayFormat.format(new Date(`${day}T00:00:00Z`))}</td>
                <td>
                  <Bar value={here} most={most} color="bg-accent-solid" />
                </td>
                {hasOther ? (
                  <td>
                    <Bar value={there ?? 0} most={most} color="bg-info" />
                  </td>
                ) : null}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}

function Bar({ value, most, color }: { value: number; most: number; color: string }) {
  return (
    <span className="flex items-center gap-2">
      <span className="min-w-0 flex-1" aria-hidden>
        <span className={`block h-2 rounded-sm ${color}`} style={{ inlineSize: `${(100 * value) / most}%` }} />
      </span>
      <span className="min-w-8 text-end tabular-nums">{count(value)}</span>
    </span>
  );
}

type Comparison = NonNullable<Result['comparison']>;

/** How many contacts get each email on one side only, or at another time. */
function Differences({
  comparison: { mails },
  sides,
  templates,
}: {
  comparison: Comparison;
  sides: Sides;
  templates: ReadonlyMap<string, string>;
}) {
  const column = (key: Exclude<keyof Comparison['mails'][number], 'templateId'>, title: string) => ({
    key,
    title,
    number: true,
    cell: (row: Comparison['mails'][number]) => count(row[key]),
  });
  if (mails.length === 0) return null;
  return (
    <div className="stack">
      <h3>Contacts by email</h3>
      <Table
        label="Contacts by email"
        rows={mails}
        rowKey={({ templateId }) => templateId ?? ''}
        columns={[
          {
            key: 'email',
            title: 'Email',
            cell: ({ templateId }) => (templateId && templates.get(templateId)) || 'No template, or another one',
          },
          column('onlyHere', `Only ${sides.here.toLowerCase()}`),
          column('onlyThere', `Only ${sides.there.toLowerCase()}`),
          column('earlier', `Earlier in ${sides.here.toLowerCase()}`),
          column('later', `Later in ${sides.here.toLowerCase()}`),
          column('same', 'Same in both'),
        ]}
      />
    </div>
  );
}

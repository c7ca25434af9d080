import * as v from 'valibot';
import { field, Integer } from '../../lib/validation/fields.ts';

/** Mail of some time, and how much of it bounced or was complained about. Rates are percentages, unrounded. */
export interface ReputationWindow {
  total: number;
  bounces: number;
  complaints: number;
  bounceRate: number;
  complaintRate: number;
}

/** The figures that reputation is judged by. */
export interface Reputation {
  twentyFourHour: ReputationWindow;
  sevenDay: ReputationWindow;
  allTime: ReputationWindow;
  /** Younger than 30 days: numbers count as well as rates. */
  isNewProject: boolean;
}

/** How bad a rate is, however little mail it is of. */
export const Level = v.picklist(['healthy', 'warning', 'critical']);
export type Level = v.InferOutput<typeof Level>;

const Rates = v.object({
  total: field('Number of emails sent.', Integer),
  bounces: field('Number of emails that bounced permanently.', Integer),
  complaints: field('Number of emails that were reported as spam.', Integer),
  bounceRate: field('Permanent bounces as a percentage of `total`; 0 when nothing was sent.', v.number()),
  complaintRate: field('Spam complaints as a percentage of `total`; 0 when nothing was sent.', v.number()),
});

/** How a project's mail is received; rates are percentages (docs/contract/platform.md#2-4). */
export const Security = v.object({
  status: field(
    'Rates of the project and what is wrong with them.',
    v.object({
      projectId: field('ID of the project.', v.string()),
      isHealthy: field('Whether no rate or number has reached a critical limit.', v.boolean()),
      shouldDisable: field('Whether a critical limit has been reached; the opposite of `isHealthy`.', v.boolean()),
      twentyFourHour: field('Always 0. `GET /deliverability` returns emails by day.', Rates),
      sevenDay: field('Emails of the last seven days.', Rates),
      allTime: field('Emails since the project was created.', Rates),
      isNewProject: field('Always `false`. `GET /deliverability` returns the limits of new projects.', v.boolean()),
      violations: field('Critical limits that have been reached, as sentences.', v.array(v.string())),
      warnings: field('Warning limits that have been reached, as sentences.', v.array(v.string())),
    }),
  ),
  levels: field(
    'Level of each rate: `healthy`, `warning` or `critical`.',
    v.object({
      bounce7Day: field('Level of the bounce rate of the last seven days.', Level),
      bounceAllTime: field('Level of the bounce rate since the project was created.', Level),
      complaint7Day: field('Level of the complaint rate of the last seven days.', Level),
      complaintAllTime: field('Level of the complaint rate since the project was created.', Level),
    }),
  ),
  isDisabled: field('Whether the project is disabled, so that it sends no emails.', v.boolean()),
});
export type Security = v.InferOutput<typeof Security>;

/** A limit that is reached, and the rate that reached it. */
export interface ReputationFinding {
  of: 'bounces' | 'complaints';
  /** A rate in percent, or a number of emails of a new project. */
  unit: 'percent' | 'emails';
  isAllTime: boolean;
  /** For operators: which limit, in words. Never shown to customers. */
  limit: string;
}

/** The judgement of the rules on a reputation. Anything critical disables the project. */
export interface ReputationJudgement {
  critical: ReputationFinding[];
  warnings: ReputationFinding[];
}

interface Limit {
  rate: number;
  count: number;
}

const enoughMail = 100;

// docs/contract/platform.md#2-4. Rates in percent of at least a hundred mails.
const rates: { window: 'sevenDay' | 'allTime'; of: ReputationFinding['of']; warning: Limit; critical: Limit }[] = [
  { window: 'sevenDay', of: 'bounces', warning: { rate: 5, count: 5 }, critical: { rate: 10, count: 10 } },
  { window: 'allTime', of: 'bounces', warning: { rate: 4, count: 5 }, critical: { rate: 8, count: 10 } },
  { window: 'sevenDay', of: 'complaints', warning: { rate: 0.075, count: 3 }, critical: { rate: 0.15, count: 5 } },
  { window: 'allTime', of: 'complaints', warning: { rate: 0.03, count: 3 }, critical: { rate: 0.12, count: 5 } },
];
// Projects younger than 30 days: numbers alone, whatever the rate.
const ceilings: {
  window: 'twentyFourHour' | 'sevenDay';
  of: ReputationFinding['of'];
  warning: number;
  critical: number;
}[] = [
  { window: 'twentyFourHour', of: 'bounces', warning: 10, critical: 25 },
  { window: 'sevenDay', of: 'bounces', warning: 25, critical: 50 },
  { window: 'twentyFourHour', of: 'complaints', warning: 3, critical: 7 },
  { window: 'sevenDay', of: 'complaints', warning: 10, critical: 20 },
];

const words = { twentyFourHour: '24 hours', sevenDay: '7 days', allTime: 'all time' } as const;

/** A window of so much mail. */
export function rateWindow(total: number, bounces: number, complaints: number): ReputationWindow {
  const percent = (part: number) => (total === 0 ? 0 : (part / total) * 100);
  return { total, bounces, complaints, bounceRate: percent(bounces), complaintRate: percent(complaints) };
}

function rateOf(window: ReputationWindow, of: ReputationFinding['of']): number {
  return of === 'bounces' ? window.bounceRate : window.complaintRate;
}

/** A limit, and where a project stands against it. */
interface MeasuredLimit {
  of: ReputationFinding['of'];
  window: keyof Omit<Reputation, 'isNewProject'>;
  /** A rate counts with at least so many emails. */
  unit: ReputationFinding['unit'];
  value: number;
  warning: Limit;
  critical: Limit;
  level: Level;
  /** Whether it is applied at all: rates from a hundred mails on, numbers while a project is new. */
  applies: boolean;
}

/** Every limit with where a project stands against it. */
export function measure(reputation: Reputation): MeasuredLimit[] {
  const level = (isCritical: boolean, isWarning: boolean): Level =>
    isCritical ? 'critical' : isWarning ? 'warning' : 'healthy';
  const ofRates = rates.map((limit): MeasuredLimit => {
    const figures = reputation[limit.window];
    const value = rateOf(figures, limit.of);
    const reaches = ({ rate, count }: Limit) => value >= rate && figures[limit.of] >= count;
    return {
      ...limit,
      unit: 'percent',
      value,
      level: level(reaches(limit.critical), reaches(limit.warning)),
      applies: figures.total >= enoughMail,
    };
  });
  const ofNumbers = ceilings.map(({ window, of, warning, critical }): MeasuredLimit => {
    const value = reputation[window][of];
    return {
      of,
      window,
      unit: 'emails',
      value,
      warning: { rate: 0, count: warning },
      critical: { rate: 0, count: critical },
      level: level(value >= critical, value >= warning),
      applies: reputation.isNewProject,
    };
  });
  return [...ofRates, ...ofNumbers];
}

/** Applies every limit; one that is critical is not a warning as well. */
export function judge(reputation: Reputation): ReputationJudgement {
  const reached = (wanted: Level): ReputationFinding[] =>
    measure(reputation)
      .filter(({ applies, level }) => applies && level === wanted)
      .map(({ of, window, unit }) => ({
        of,
        unit,
        isAllTime: window === 'allTime',
        limit:
          unit === 'percent' ? `rate of ${of}, ${words[window]}` : `number of ${of} of a new project, ${words[window]}`,
      }));
  return { critical: reached('critical'), warnings: reached('warning') };
}

/** How bad each rate is by itself, whatever the numbers. */
export function levelsOf(reputation: Reputation): Record<string, Level> {
  const level = (place: number): Level => {
    const { window, of, warning, critical } = rates[place] as (typeof rates)[number];
    const rate = rateOf(reputation[window], of);
    return rate >= critical.rate ? 'critical' : rate >= warning.rate ? 'warning' : 'healthy';
  };
  return { bounce7Day: level(0), bounceAllTime: level(1), complaint7Day: level(2), complaintAllTime: level(3) };
}

import type { Page } from 'playwright-core';
import { pause } from '../../src/lib/time.ts';
import type { DashboardData } from './dashboard-data.ts';
import { atPage, type Viewer } from './dashboard-pages.ts';

/** An interaction with a page; each press or key of it is timed. */
interface Interaction {
  name: string;
  path: string;
  act: (page: Page) => Promise<void>;
}

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first();
const typed = (label: string, text: string) => async (page: Page) => {
  await page.getByLabel(label).first().focus();
  await page.keyboard.type(text, { delay: 40 });
};

const interactions = ({ seeded }: DashboardData): Interaction[] => [
  { name: 'contacts: type a search', path: '/contacts', act: typed('Search', 'kunde') },
  { name: 'contacts: sort by email', path: '/contacts', act: (page) => button(page, 'Sort by email').click() },
  { name: 'contacts: select one', path: '/contacts', act: (page) => page.getByRole('checkbox').nth(1).click() },
  { name: 'contacts: open the columns', path: '/contacts', act: (page) => button(page, 'Columns').click() },
  { name: 'contacts: open a filter', path: '/contacts', act: (page) => button(page, 'Filter').click() },
  { name: 'contacts: open the import', path: '/contacts', act: (page) => button(page, 'Import').click() },
  {
    name: 'anywhere: open the search and type',
    path: '/contacts',
    act: async (page) => {
      await page.keyboard.press('ControlOrMeta+k');
      await page.getByRole('dialog').getByRole('combobox').waitFor();
      await page.keyboard.type('kunde', { delay: 40 });
    },
  },
  {
    name: 'segment: type a value, counts live',
    path: `/segments/${seeded.segment}/edit`,
    act: typed('Value', 'pr'),
  },
  { name: 'activity: choose a type', path: '/activity', act: (page) => choose(page, 'Type', 'Bounced') },
  { name: 'emails: choose a status', path: '/emails', act: (page) => choose(page, 'Status', 'Failed') },
  { name: 'emails: type a subject', path: '/emails', act: typed('Subject', 'spring') },
  {
    name: 'campaign: show a recipient’s Why?',
    path: `/campaigns/${seeded.campaign}`,
    act: (page) => button(page, /^Why\?/).click(),
  },
  {
    name: 'workflow: select a step',
    path: `/workflows/${seeded.workflow}`,
    act: (page) => page.locator('.react-flow__node').nth(1).press('Enter'),
  },
  { name: 'workflow: arrange', path: `/workflows/${seeded.workflow}`, act: (page) => button(page, 'Arrange').click() },
];

// By keyboard, because the list of a select is the system's.
async function choose(page: Page, label: string, value: string): Promise<void> {
  await page.getByLabel(label, { exact: true }).first().focus();
  await page.keyboard.type(value.slice(0, 3), { delay: 40 });
}

/** The longest delay of an interaction: from the press until the next frame is painted, in milliseconds; rounded to 8 by the browser. */
export interface Answered {
  name: string;
  ms: number;
}

const repeats = 3;
// Whatever a press has led to is painted by then.
const quietMs = 800;

/** Does each of them three times on a page of its own, and answers the slowest press of each time, the middle one of the three. */
export async function interact(viewer: Viewer, data: DashboardData): Promise<Answered[]> {
  const answered: Answered[] = [];
  for (const { name, path, act } of interactions(data)) {
    const times: number[] = [];
    for (let round = 0; round < repeats; round++)
      times.push(
        await atPage(viewer, `/app/${data.seeded.project}${path}`, watchPresses, async (page) => {
          await page.evaluate('window.slowestPress = 0');
          await act(page);
          await pause(quietMs);
          return page.evaluate<number>('window.slowestPress');
        }),
      );
    answered.push({ name, ms: times.sort((one, other) => one - other)[1] ?? Number.NaN });
  }
  return answered;
}

// Event Timing: what a browser reports for the metric "Interaction to Next Paint".
const watchPresses = `new PerformanceObserver((list) => {
  for (const entry of list.getEntries())
    if (entry.interactionId) window.slowestPress = Math.max(window.slowestPress ?? 0, entry.duration);
}).observe({ type: 'event', durationThreshold: 16, buffered: true })`;

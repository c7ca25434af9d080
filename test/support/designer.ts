import type { Locator, Page } from 'playwright-core';
import { aProject, type TestProject } from './api.ts';
import { type AutomationHand, automationHand } from './automations.ts';
import { type DashboardWorld, dashboardWorld } from './dashboard.ts';
import { signInAs } from './dashboard-owner.ts';
import { type Hand, mouse } from './hands.ts';
import { aPerson, joins, type Person } from './people.ts';

/** The whole service with one project, its owner, and what a test does in the designer. */
export interface DesignerWorld extends AsyncDisposable {
  world: DashboardWorld;
  project: TestProject;
  person: Person;
  own: AutomationHand;
  /** Does something on a page of somebody who has signed in; the owner unless another member is named. */
  inDashboard(work: (page: Page) => Promise<void>, who?: Person): Promise<void>;
  /** Another member of the project. */
  colleague(name: string): Promise<Person>;
  open(page: Page, place: string): Promise<unknown>;
  /** An enabled automation: TRIGGER → Wait a month → Done. */
  waiting(name: string): Promise<{ id: string; wait: string; done: string }>;
}

/** Starts everything. */
export async function designerWorld(): Promise<DesignerWorld> {
  const world = await dashboardWorld();
  const project = await aProject(world.database, 'Vogelfreunde am Wattenmeer e. V.');
  const member = async (name: string, role: 'OWNER' | 'MEMBER') => {
    const person = await aPerson(world.database.db, world.api.config, { name });
    await joins(world.database.db, project.id, person, role);
    return person;
  };
  const person = await member('mira.holt', 'OWNER');
  const own = automationHand(world.api, project);
  return {
    world,
    project,
    person,
    own,
    inDashboard: (work, who = person) =>
      world.inPage({ viewport: { width: 1280, height: 900 } }, async (page) => {
        await signInAs(page, world.url, who.session);
        await work(page);
      }),
    colleague: (name) => member(name, 'MEMBER'),
    open: (page, place) => page.goto(`${world.url}/app/${project.id}/${place}`),
    async waiting(name) {
      const { id } = await own.automation({ name });
      const wait = await own.step(id, 'DELAY', { amount: 30, unit: 'days' }, { name: 'Wait a month' });
      const done = await own.step(id, 'EXIT', {}, { name: 'Done', position: { x: 100, y: 400 } });
      await own.enable(id);
      return { id, wait, done };
    },
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

/** Presses the button of this name. */
export const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
/** Fills a field. */
export const type = (page: Page, label: string, text: string) => page.getByLabel(label, { exact: true }).fill(text);
/** Chooses an option. */
export const pick = (page: Page, label: string, option: string) =>
  page.getByLabel(label, { exact: true }).selectOption(option);
/** A step on the canvas. */
export const stepOn = (page: Page, name: string): Locator => page.locator('.react-flow__node', { hasText: name });

/** Adds a step of a type behind the selected one, opens its form and names it. */
export async function add(page: Page, what: string, name: string, hand: Hand = mouse(page)): Promise<void> {
  await hand.press('Add step');
  await hand.press(page.getByRole('menuitem', { name: new RegExp(`^${what}$`, 'i') }));
  await page.getByRole('heading', { level: 2, name: new RegExp(`^${what}`, 'i') }).waitFor();
  await hand.type('Name', name);
  await page.getByRole('heading', { level: 2, name, exact: true }).waitFor();
}

/** Saves the edit of an automation in which nobody is. */
export async function save(page: Page): Promise<void> {
  await press(page, 'Save');
  await page.getByText('No changes', { exact: true }).waitFor();
}

/** Publishes the edit as the dialog proposes it. */
export async function publish(page: Page): Promise<void> {
  await press(page, 'Review and publish');
  await press(page, 'Publish');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByText('No changes', { exact: true }).waitFor();
}

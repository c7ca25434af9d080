import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { eventually } from '../../tools/local-stack/test/fakes.ts';
import { aProject, type TestProject } from '../support/api.ts';
import { accessibilityProblems, phone } from '../support/browser.ts';
import { type DashboardWorld, dashboardWorld } from '../support/dashboard.ts';
import { signInAs } from '../support/dashboard-owner.ts';
import { aPerson, joins, type Person } from '../support/people.ts';

let world: DashboardWorld;
let project: TestProject;
let admin: Person;

beforeAll(async () => {
  world = await dashboardWorld({ REQUIRE_EMAIL_VERIFICATION: 'true' });
});
afterAll(() => world?.[Symbol.asyncDispose]());
beforeEach(async () => {
  project = await aProject(world.database, 'Vogelfreunde am Wattenmeer e. V.');
  admin = await aPerson(world.database.db, world.api.config);
  await joins(world.database.db, project.id, admin, 'ADMIN');
});

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true });
const open = (page: Page, place: string) => page.goto(`${world.url}/app/${project.id}/${place}`);

const as = (person: Person, work: (page: Page) => Promise<void>) =>
  world.inPage({}, async (page) => {
    await signInAs(page, world.url, person.session);
    await work(page);
  });

/** The link of the newest mail to an address whose path this is, once it has arrived. */
async function linkTo(email: string, path: string): Promise<string> {
  let link = '';
  await eventually(async () => {
    const [mail] = await world.mailTo(email);
    link = new RegExp(`${world.url}${path}\\?token=\\w+`).exec(mail?.html ?? '')?.[0] ?? '';
    return link !== '';
  });
  return link;
}

test('a new account waits for its address to be confirmed, and the link of the mail opens the way', async () => {
  const email = 'imke.hansen@seehundstation.test';
  await world.inPage({}, async (page) => {
    await page.goto(`${world.url}/auth/signup`);
    await page.getByLabel('Email address').fill(email);
    await page.getByLabel('Password').fill('four harbour seals at noon');
    await button(page, 'Create account').click();
    await heading(page, 'Confirm your email address').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);

    await page.getByRole('link', { name: 'I confirmed my address' }).click();
    await heading(page, 'Confirm your email address').waitFor();
    await page.goto(`${world.url}/app`);
    await heading(page, 'Confirm your email address').waitFor();

    await page.goto(await linkTo(email, '/auth/verify-email'));
    await heading(page, 'Email address confirmed').waitFor();
    await page.getByRole('link', { name: 'Continue' }).click();
    await heading(page, 'Create a project').waitFor();
  });
});

test('a link that is used up says so, and another can be asked for', async () => {
  const email = 'ole.brodersen@seehundstation.test';
  await world.inPage({}, async (page) => {
    await page.goto(`${world.url}/auth/signup`);
    await page.getByLabel('Email address').fill(email);
    await page.getByLabel('Password').fill('a moulting eider in June');
    await button(page, 'Create account').click();
    await heading(page, 'Confirm your email address').waitFor();
    await linkTo(email, '/auth/verify-email');

    await page.goto(`${world.url}/auth/verify-email?token=${'0'.repeat(64)}`);
    await page.getByRole('alert').waitFor();
    await page.goto(`${world.url}/auth/verify-email`);
    const before = (await world.mailTo(email)).length;
    await button(page, 'Resend email').click();
    await eventually(async () => (await world.mailTo(email)).length > before);
  });
});

test('a forgotten password is replaced by the link of a mail', async () => {
  const person = await aPerson(world.database.db, world.api.config, { signsIn: true });
  await world.inPage({}, async (page) => {
    await page.goto(`${world.url}/auth/login`);
    await page.getByRole('link', { name: 'Forgot your password?' }).click();
    // The page before has a field of the same name.
    await heading(page, 'Reset your password').waitFor();
    await page.getByLabel('Email address').fill(person.email);
    await button(page, 'Send reset link').click();
    await page.locator('[data-slot=note][data-tone=good]').waitFor();
    await page.goto(await linkTo(person.email, '/auth/reset-password'));
    await page.getByLabel('New password').fill('tern');
    await button(page, 'Change password').click();
    await page.getByRole('alert').waitFor();
    await expect.poll(() => page.getByLabel('New password').getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('New password').fill('a tern that came back from Ghana');
    await button(page, 'Change password').click();
    await heading(page, 'Password changed').waitFor();
    await page.getByRole('link', { name: 'Sign in' }).click();
    await heading(page, 'Sign in').waitFor();
    for (const viewport of [{ width: 1280, height: 720 }, phone]) {
      await page.setViewportSize(viewport);
      const height = await page.evaluate<number>('document.documentElement.scrollHeight');
      expect(height, `${viewport.width} pixels`).toBeLessThanOrEqual(viewport.height);
    }
    await page.getByLabel('Email address').fill(person.email);
    await page.getByLabel('Password').fill('tern');
    await button(page, 'Sign in').click();
    await page.getByRole('alert').getByText('The email address or the password is wrong.').waitFor();
    await page.getByLabel('Password').fill('a tern that came back from Ghana');
    await button(page, 'Sign in').click();
    await heading(page, 'Create a project').waitFor();
  });
});

test('a colleague is invited by mail, joins, becomes an admin and is removed', async () => {
  const colleague = await aPerson(world.database.db, world.api.config, { name: 'wiebke.lorenzen' });
  await as(admin, async (page) => {
    await open(page, 'settings?tab=team');
    await page.getByLabel('Email address').fill(colleague.email);
    await button(page, 'Send invitation').click();
    await page
      .getByRole('region', { name: 'Pending invitations' })
      .getByText(colleague.email, { exact: true })
      .waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
  });
  await as(colleague, async (page) => {
    await page.goto(await linkTo(colleague.email, '/auth/invitation'));
    await button(page, `Join ${project.name}`).click();
    await button(page, `Project: ${project.name}. Switch project`).waitFor();
  });
  await as(admin, async (page) => {
    await open(page, 'settings?tab=team');
    const role = page.getByLabel(`Role of ${colleague.email}`);
    await expect.poll(() => role.inputValue()).toBe('MEMBER');
    await role.selectOption('ADMIN');
    await page.getByText(`${colleague.email} is an admin`).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);

    await page.getByRole('button', { name: `Remove ${colleague.email}` }).click();
    await page.getByText(`loses access to ${project.name} immediately`).waitFor();
    await button(page, 'Remove from team').click();
    await page.getByRole('alertdialog').waitFor({ state: 'detached' });
    await role.waitFor({ state: 'detached' });
    // The button that was pressed is gone with its row: the focus is on the page and not lost.
    await page.locator('main:focus').waitFor();
  });
  await as(colleague, async (page) => {
    await open(page, 'settings');
    await page.getByText('You’re not a member of this project').waitFor();
  });
});

test('a member sees the work and not what only admins may do', async () => {
  const member = await aPerson(world.database.db, world.api.config, { name: 'tjark.momsen' });
  await joins(world.database.db, project.id, member, 'MEMBER');
  await as(member, async (page) => {
    await open(page, 'campaigns');
    await page.getByRole('link', { name: 'New campaign' }).first().waitFor();
    await open(page, 'settings');
    await page.getByText('Only admins and the owner can change these settings.').waitFor();
    await expect.poll(() => page.getByLabel('Name', { exact: true }).isDisabled()).toBe(true);
    for (const [tab, shown, hidden] of [
      ['Project', 'Only admins and the owner can change these settings.', ['Reset project', 'Delete project']],
      ['API keys', 'Public key', ['Roll both keys']],
      ['Team', admin.email, ['Send invitation', `Remove ${admin.email}`]],
      ['Billing', 'Emails this month', ['Change limits']],
    ] as const) {
      await page.getByRole('tab', { name: tab }).click();
      await page.getByRole('tabpanel').getByText(shown).first().waitFor();
      for (const name of hidden)
        await expect.poll(() => button(page, name).count(), { message: `${tab}: ${name}` }).toBe(0);
    }
    await open(page, 'domains');
    await page.getByRole('heading', { level: 2, name: project.domain }).waitFor();
    await page.getByText('Only admins and the owner can add or remove domains.').waitFor();
    for (const name of ['Add', 'Remove'])
      await expect.poll(() => button(page, name).count(), { message: `Domains: ${name}` }).toBe(0);
  });
});

test('an admin hides the secret key from members, who see the public one and why the other is missing', async () => {
  const member = await aPerson(world.database.db, world.api.config, { name: 'wiebke.lorenz' });
  await joins(world.database.db, project.id, member, 'MEMBER');
  await as(admin, async (page) => {
    await open(page, 'settings?tab=keys');
    const box = page.getByLabel('Hide the secret key from members');
    await box.click();
    await page.getByText('Members can no longer see the secret key').waitFor();
    await expect.poll(() => box.isChecked()).toBe(true);
    await page.getByText('sk_•').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
  });
  await as(member, async (page) => {
    await open(page, 'settings?tab=keys');
    await page.getByText('Only admins and the owner can see the secret key.').waitFor();
    await page.getByText(project.publicKey).waitFor();
    await expect.poll(() => page.getByText('sk_•').count()).toBe(0);
    await expect.poll(() => page.getByLabel('Hide the secret key from members').count()).toBe(0);
  });
});

test('signing out ends the session, also for a copy of its cookie', async () => {
  await as(admin, async (page) => {
    await open(page, 'settings');
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.waitForURL('**/auth/login');
  });
  expect((await world.api.call(null, 'GET', '/users/@me', undefined, admin.session)).status).toBe(401);
});

test('the secret key is covered until it is asked for, and both keys are replaced at once', async () => {
  await as(admin, async (page) => {
    await open(page, 'settings?tab=keys');
    await page.getByText('sk_•').waitFor();
    await expect.poll(() => page.locator('body').textContent()).not.toContain(project.secretKey);
    await button(page, 'Show').click();
    await page.getByText(project.secretKey).waitFor();

    await button(page, 'Roll both keys').click();
    await page.getByText(`The current keys of ${project.name} stop working immediately`).waitFor();
    await button(page, 'Roll keys').click();
    await page.getByText('Both keys were rolled').waitFor();
    await page.getByText(project.secretKey).waitFor({ state: 'detached' });
    await page.getByText(project.publicKey).waitFor({ state: 'detached' });
    const shown = await page.getByText(/^sk_\w{20,}/).textContent();
    expect((await world.api.call(project.secretKey, 'GET', '/contacts')).status).toBe(401);
    expect((await world.api.call(shown, 'GET', '/contacts')).status).toBe(200);
  });
});

test('whoever has no account chooses a password at the link of an invitation, and it can be revoked before', async () => {
  const [guest, unwanted] = ['swantje.petersen@seehundstation.test', 'harm.unwanted@seehundstation.test'];
  await as(admin, async (page) => {
    await open(page, 'settings?tab=team');
    for (const email of [guest, unwanted]) {
      await page.getByLabel('Email address').fill(email);
      await page.getByLabel('Email address').press('Enter');
      await page.getByRole('region', { name: 'Pending invitations' }).getByText(email, { exact: true }).waitFor();
    }
  });
  const [link, revoked] = [await linkTo(guest, '/auth/invitation'), await linkTo(unwanted, '/auth/invitation')];
  await as(admin, async (page) => {
    await open(page, 'settings?tab=team');
    await page.getByRole('button', { name: `Revoke invitation to ${unwanted}` }).click();
    await page.getByRole('button', { name: `Revoke invitation to ${unwanted}` }).waitFor({ state: 'detached' });
    // Another's link says whose it is.
    await page.goto(link);
    await page.getByText(`You’re signed in as ${admin.email}.`).waitFor();
  });
  await world.inPage({}, async (page) => {
    await page.goto(revoked);
    await page.getByRole('alert').getByText('ask for a new one').waitFor();
    await page.goto(link);
    await heading(page, `Join ${project.name}`).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.getByLabel('Choose a password').fill('tern');
    await button(page, 'Create account and join').click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Choose a password').fill('a tern that came back from Ghana');
    await button(page, 'Create account and join').click();
    await button(page, `Project: ${project.name}. Switch project`).waitFor();
  });
});

test('the account page changes the password and signs out other devices', async () => {
  const person = await aPerson(world.database.db, world.api.config, { name: 'fenja.claussen', signsIn: true });
  await joins(world.database.db, project.id, person, 'MEMBER');
  const signIn = async (page: Page, password: string) => {
    await page.goto(`${world.url}/auth/login`);
    await page.getByLabel('Email address').fill(person.email);
    await page.getByLabel('Password').fill(password);
    await button(page, 'Sign in').click();
    await button(page, `Account: ${person.email}`).waitFor();
  };
  await world.inPage({}, async (phone) => {
    await signIn(phone, person.password);
    await world.inPage({}, async (page) => {
      await signIn(page, person.password);
      await button(page, `Account: ${person.email}`).click();
      await page.getByRole('menuitem', { name: 'Account settings' }).click();
      await heading(page, 'Account').waitFor();
      const rows = page.getByRole('region', { name: 'Sessions' }).getByRole('row');
      await page.getByText('This session').waitFor();
      await expect.poll(() => rows.count()).toBe(3);
      expect(await accessibilityProblems(page)).toEqual([]);

      await page.getByLabel('Current password').fill('not the password');
      await page.getByLabel('New password').fill('a tern that came back from Ghana');
      await button(page, 'Change password').click();
      await page.getByText('is not your password').first().waitFor();
      await page.getByLabel('Current password').fill(person.password);
      await button(page, 'Change password').click();
      await page.getByText('You’re signed out everywhere else').first().waitFor();
      await expect.poll(() => rows.count()).toBe(2);
      await page.reload();
      await heading(page, 'Account').waitFor();

      await button(page, 'Sign out everywhere else').click();
      await page.getByRole('alertdialog').waitFor();
      expect(await accessibilityProblems(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await page.getByRole('alertdialog').waitFor({ state: 'detached' });
    });
    await phone.reload();
    await heading(phone, 'Sign in').waitFor();
  });
});

import type { Page } from 'playwright-core';
import type { DialogSeed } from './dialog-seed.ts';

/** What is done to open something: a button that is pressed, by its exact name or the first that matches, or any other deed. */
type Step = string | RegExp | ((page: Page, seed: DialogSeed) => Promise<unknown>);

/** A dialog or a menu of the dashboard, and how it is opened on its page. */
export interface Opening {
  /** The file of `dashboard/src` that renders it. */
  file: string;
  role: 'dialog' | 'alertdialog' | 'menu';
  /** Its accessible name. */
  name: string | RegExp;
  steps: readonly Step[];
  /** Whether Escape leaves it open, because nothing goes on without it. */
  stays?: true;
}

const opening =
  (role: Opening['role']) =>
  (file: string, name: string | RegExp, ...steps: Step[]): Opening => ({ file, role, name, steps });
const dialog = opening('dialog');
const question = opening('alertdialog');
const menu = opening('menu');

const item =
  (name: string): Step =>
  (page) =>
    page.getByRole('menu').getByText(name, { exact: true }).click();
const fill =
  (label: string, text: string): Step =>
  (page) =>
    page.getByLabel(label, { exact: true }).fill(text);
const pick =
  (label: string, option: string): Step =>
  (page) =>
    page.getByLabel(label, { exact: true }).selectOption(option);
const step =
  (name: string): Step =>
  (page) =>
    page.locator('.react-flow__node', { hasText: name }).click();
const csv = { name: 'fair.csv', mimeType: 'text/csv', buffer: Buffer.from('email,plan\nokke@fair.example,team\n') };
const attached: Step = (page) => page.getByRole('dialog').getByLabel('File').setInputFiles(csv);
const firstContact: Step = (page) => page.locator('li[data-index="0"]').getByRole('checkbox').check();
const firstBlock: Step = (page) => page.locator('.ProseMirror').getByText('Herons at low tide').click();

/** Every page with the dialogs and menus that are opened there, by its address within the project; `$name` is something seeded. */
export const dialogsByPage: Readonly<Record<string, readonly Opening[]>> = {
  '': [
    menu('app/Shell.tsx', /Switch project$/, /Switch project$/),
    menu('app/Shell.tsx', /^Account: /, /^Account: /),
    dialog('app/ShortcutsDialog.tsx', 'Keyboard shortcuts', /^Account: /, item('Keyboard shortcuts')),
    dialog('app/CommandPalette.tsx', 'Search and commands', 'Search'),
  ],
  account: [question('pages/account/Sessions.tsx', 'Sign out everywhere else?', 'Sign out everywhere else')],
  'campaigns/$draft': [
    question('pages/campaigns/composer/ComposerDialogs.tsx', /^Delete /, 'More actions', item('Delete draft')),
  ],
  'campaigns/$scheduled': [
    question('pages/campaigns/composer/ComposerDialogs.tsx', /^Unschedule /, 'More actions', item('Back to draft')),
  ],
  'campaigns/$pausedCampaign': [
    dialog('pages/campaigns/revisions/FixDialog.tsx', /^Send version 2 to/, 'Fix and continue'),
    question('pages/campaigns/run/RunDialogs.tsx', /^Stop sending /, 'Stop sending'),
    dialog('pages/explain/Why.tsx', 'Why?', /^Why\? /),
    question('pages/explain/FixButton.tsx', 'Resume the campaign?', /^Why\? /, 'Resume the campaign'),
    dialog('pages/explain/Why.tsx', 'Explain a contact', 'Explain a contact'),
  ],
  'campaigns/$campaign': [
    dialog('pages/campaigns/revisions/CorrectionDialog.tsx', 'Correct this campaign?', 'Send correction'),
    dialog('pages/campaigns/revisions/FollowUpDialog.tsx', /^Follow up /, 'Follow up'),
    question('pages/campaigns/run/RunDialogs.tsx', /^Resend /, 'Resend to missed recipients'),
  ],
  'contact-fields?field=data.visits': [
    question('pages/contacts/Fields.tsx', /^Delete the field/, 'Delete from all contacts'),
  ],
  'contact-jobs': [question('pages/contacts/UndoJob.tsx', 'Undo this change?', /^Undo /)],
  contacts: [
    menu('pages/contacts/Contacts.tsx', 'More about contacts', 'More about contacts'),
    dialog('pages/contacts/NewContactDialog.tsx', 'Add contact', 'Add contact'),
    dialog('pages/contacts/list/ExportDialog.tsx', /^Export \d+ contacts$/, 'Export'),
    menu('pages/contacts/list/ColumnsMenu.tsx', 'Columns', 'Columns'),
    menu('pages/contacts/list/Views.tsx', 'Views', 'Views'),
    dialog('pages/contacts/list/Views.tsx', 'Save view', 'Views', item('Save as new view')),
    question(
      'pages/contacts/list/Views.tsx',
      /^Delete the view/,
      'Views',
      item('Everybody'),
      'Everybody',
      item('Delete view'),
    ),
    dialog('pages/contacts/list/SegmentDialog.tsx', 'Add 1 contact to a segment', firstContact, 'Add to segment'),
    question('pages/contacts/list/BulkDialog.tsx', 'Delete 1 contact?', firstContact, 'Delete'),
    dialog(
      'pages/contacts/list/BulkDialog.tsx',
      'Updating contacts',
      firstContact,
      'Unsubscribe',
      'Unsubscribe 1 contact',
    ),
    dialog('pages/contacts/import/ImportDialog.tsx', 'Import contacts', 'Import'),
    dialog('pages/contacts/import/ImportDialog.tsx', 'Review the import', 'Import', attached, 'Preview changes'),
    dialog(
      'pages/contacts/import/ImportDialog.tsx',
      'Import contacts',
      'Import',
      attached,
      'Preview changes',
      'Import 1 row',
    ),
  ],
  'contacts/$contact': [
    question('pages/contacts/contact/Actions.tsx', /^Delete /, 'Delete'),
    menu('pages/contacts/erase/PrivacyMenu.tsx', 'Privacy', 'Privacy'),
    question('pages/contacts/erase/EraseDialog.tsx', /^Erase .* permanently\?$/, 'Privacy', item('Erase contact')),
  ],
  'contacts/$contact?tab=workflows': [
    question('pages/contacts/contact/ContactWorkflows.tsx', /^Stop Onboarding of new members/, /^Stop Onboarding/),
  ],
  'contacts/$unsubscribed': [question('pages/contacts/Resubscribe.tsx', /^Resubscribe /, 'Subscribe')],
  domains: [question('pages/domains/DomainCard.tsx', /^Remove acme-/, 'Remove')],
  emails: [dialog('pages/emails/ExportDialog.tsx', 'Export emails', 'Export')],
  'emails?tab=scheduled': [
    dialog('pages/emails/QueuedDialog.tsx', /^Reschedule the email to /, /^Reschedule the email to /),
    question('pages/emails/QueuedDialog.tsx', /^Send the email to .* now\?$/, /^Send now to /),
    question('pages/emails/QueuedDialog.tsx', /^Cancel the email to /, /^Cancel the email to /),
  ],
  'emails/$failedEmail': [question('pages/emails/ResendDialog.tsx', /^Send to .* again\?$/, 'Resend')],
  'erasures/$erasure': [
    question('pages/contacts/erase/SuppressionCard.tsx', 'Let this address be added again?', 'Lift suppression'),
  ],
  'events?name=visit.reported': [question('pages/events/Events.tsx', /^Delete all .* events\?$/, 'Delete events')],
  'segments/$segment': [question('pages/segments/SegmentPage.tsx', 'Delete Members on the team plan?', 'Delete')],
  'segments/$segment/edit': [
    dialog(
      'app/ConflictDialog.tsx',
      'This segment changed while you were editing',
      fill('Name', 'Members who pay'),
      (_, { call, segment }) => call('PATCH', `/segments/${segment}`, { description: 'By somebody else' }),
      'Save',
    ),
    question('app/unsaved.tsx', 'Discard unsaved changes?', fill('Name', 'Members who pay most'), (page) =>
      page.getByRole('main').getByRole('link', { name: 'Segments', exact: true }).click(),
    ),
  ],
  'segments/$staticSegment': [
    dialog('pages/segments/MembersDialog.tsx', /^Add contacts to /, 'Add contacts'),
    question('pages/segments/SegmentContacts.tsx', /^Remove .*\?$/, /^Remove .*@/),
  ],
  settings: [
    question('pages/settings/HoldoutForm.tsx', 'Send marketing email to everyone again?', 'End control group'),
    question('pages/settings/Retention.tsx', 'Remove older data?', pick('Events', '31'), 'Save retention'),
    question('pages/settings/ProjectForm.tsx', /^Reset /, 'Reset project'),
    question('pages/settings/ProjectForm.tsx', /^Delete /, 'Delete project'),
  ],
  'settings?tab=billing': [dialog('pages/settings/Limits.tsx', 'Monthly limits', 'Change limits')],
  'settings?tab=keys': [
    question('pages/settings/Keys.tsx', 'Roll both keys?', 'Roll both keys'),
    dialog('pages/settings/keys/KeyDialog.tsx', 'Create an API key', 'Create key'),
    menu('pages/settings/keys/ScopedKeys.tsx', 'Actions for Shop', 'Actions for Shop'),
    question('pages/settings/keys/ScopedKeys.tsx', /^Delete Shop\?/, 'Actions for Shop', item('Delete')),
    dialog('pages/settings/keys/KeyDialog.tsx', 'Edit Shop', 'Actions for Shop', item('Edit name and scopes')),
    dialog('pages/settings/keys/KeyDialog.tsx', 'Rotate Shop?', 'Actions for Shop', item('Rotate')),
    dialog('pages/settings/keys/ShownOnce.tsx', 'Shop has a new key', 'Actions for Shop', item('Rotate'), 'Rotate key'),
  ],
  'settings?tab=log': [dialog('pages/settings/audit/ChangeDialog.tsx', /./, /^Show change /)],
  'settings?tab=team': [question('pages/settings/team/Members.tsx', /^Remove .*\?$/, /^Remove .*@/)],
  'settings?tab=uploads': [question('pages/settings/Uploads.tsx', /^Delete heron /, /^Delete heron /)],
  'settings?tab=webhooks': [dialog('pages/webhooks/EndpointForm.tsx', 'Add webhook endpoint', 'Add endpoint')],
  suppressions: [
    dialog('pages/suppressions/RuleDialog.tsx', 'New rule', 'New rule'),
    question('pages/suppressions/Suppressions.tsx', 'Turn off Former members?', 'Turn off Former members'),
    question('pages/suppressions/Suppressions.tsx', 'Delete Former members?', 'Delete Former members'),
  ],
  'suppressions?tab=mail': [dialog('pages/suppressions/SuppressedMail.tsx', 'Suppressed email', /^Show the email to /)],
  'templates/$blocks': [
    menu('pages/mail/Composer.tsx', 'More actions', 'More actions'),
    dialog('pages/mail/HistoryDialog.tsx', 'Version history', 'More actions', item('Version history')),
    question('pages/templates/TemplatePage.tsx', /^Delete the template/, 'More actions', item('Delete template')),
    dialog('pages/mail/TestDialog.tsx', /^Send a test of /, 'Send test email'),
    dialog('pages/mail/VariableField.tsx', 'Insert a variable', /^Insert a variable$/),
    dialog('pages/mail/LayoutDialog.tsx', 'Start from a layout', 'Layouts'),
    dialog('pages/mail/BrandDialog.tsx', 'Brand kit', 'Brand kit'),
    question('pages/mail/MailBody.tsx', 'Edit this email as HTML?', 'Edit as HTML'),
    dialog('pages/mail/SavedBlocks.tsx', 'Saved blocks', 'Saved blocks'),
    question('pages/mail/SavedBlocks.tsx', /^Delete the saved block/, 'Saved blocks', 'Delete Signature'),
    dialog('pages/mail/SavedBlocks.tsx', 'Save this block', firstBlock, 'Save as block'),
    menu('editor/Toolbar.tsx', 'Block', 'Block'),
    menu('editor/Toolbar.tsx', 'Variable', 'Variable'),
    dialog('editor/ImageDialog.tsx', 'Insert image', firstBlock, 'Block', item('Image'), 'Recent images'),
  ],
  'templates/$template': [dialog('pages/mail/ImageDialog.tsx', 'Insert image', 'Insert image')],
  'webhooks/$endpoint': [
    dialog('pages/webhooks/EndpointForm.tsx', 'Edit endpoint', 'Edit'),
    dialog('pages/webhooks/SecretDialogs.tsx', 'Send test event', 'Send test event'),
    dialog('pages/webhooks/SecretDialogs.tsx', 'Rotate signing secret?', 'Rotate secret'),
    question('pages/webhooks/EndpointPage.tsx', 'Delete this endpoint and its log?', 'Delete'),
    dialog('pages/webhooks/Deliveries.tsx', /./, /^Show delivery /),
  ],
  workflows: [
    dialog('pages/workflows/NewWorkflow.tsx', 'New workflow', 'New workflow'),
    question('pages/workflows/DeleteWorkflow.tsx', 'Delete the workflow Idle?', 'Delete Idle'),
    dialog('pages/workflows/publish/EnableDialog.tsx', 'Enable Idle, which does nothing?', 'Enable Idle'),
  ],
  'workflows/$waiting': [
    menu('pages/workflows/designer/DesignerHead.tsx', 'More actions', 'More actions'),
    menu('pages/workflows/designer/Toolbar.tsx', 'Edit steps', 'Edit steps'),
    menu('pages/workflows/designer/StepMenu.tsx', 'Add step', 'Add step'),
    dialog('pages/workflows/test-run/TestRunDialog.tsx', 'Test with a contact', 'Test'),
    dialog('pages/workflows/simulation/SimulateDialog.tsx', 'Simulate Waiting', 'Simulate'),
    question('pages/workflows/publish/PauseDialog.tsx', 'Pause Waiting?', 'More actions', item('Pause workflow')),
    dialog('pages/workflows/executions/PeopleDialog.tsx', /^Contacts at /, step('Wait a month'), 'View contacts here'),
    dialog('pages/workflows/steps/DeleteStep.tsx', /^Delete the step /, step('Wait a month'), 'Delete step'),
    dialog(
      'pages/workflows/executions/EnrollDialog.tsx',
      'Enroll contacts in Waiting',
      'More actions',
      item('Enroll contacts'),
    ),
    question(
      'pages/workflows/executions/EnrollDialog.tsx',
      'Enroll 1 contact in Waiting?',
      'More actions',
      item('Enroll contacts'),
      pick('Segment', 'Board'),
      'Enroll 1 contact',
    ),
  ],
  'workflows/$waiting/executions': [
    dialog('pages/workflows/executions/StartDialog.tsx', 'Start for contact', 'Start for contact'),
    question('pages/workflows/executions/Executions.tsx', 'Cancel all runs of Waiting?', 'Cancel all runs'),
  ],
  'workflows/$workflow/executions/$execution': [
    question('pages/workflows/executions/ExecutionPage.tsx', /^Cancel the run /, 'Cancel run'),
  ],
  'workflows/$failing/executions': [
    question('pages/workflows/executions/RetryDialog.tsx', /^Retry 1 run that failed at /, /^Retry those at /),
  ],
  'workflows/$failing/executions/$failedRun': [
    question('pages/workflows/executions/RetryDialog.tsx', /^Retry the run for /, 'Retry run'),
  ],
  'workflows/$rolling': [dialog('pages/workflows/publish/RolloutDialog.tsx', 'Rollout of Rolling', 'Rollout')],
  'workflows/$older': [
    dialog(
      'pages/workflows/publish/MigrateDialog.tsx',
      'Migrate contacts in Older',
      'More actions',
      item('Migrate contacts'),
    ),
    dialog(
      'pages/workflows/publish/MigrateDialog.tsx',
      'Migrating contacts',
      'More actions',
      item('Migrate contacts'),
      pick('Action (Wait a month)', 'exit'),
      fill('Reason (Wait a month)', 'new rules'),
      'Migrate contacts',
    ),
  ],
  'workflows/$moving': [
    dialog(
      'pages/workflows/publish/PublishDialog.tsx',
      'Publish Moving?',
      step('Wait a month'),
      fill('Duration', '31'),
      'Review and publish',
    ),
    dialog(
      'pages/workflows/publish/PublishDialog.tsx',
      'Published, migrating contacts',
      'Review and publish',
      pick('Action (Wait a month)', 'exit'),
      fill('Reason (Wait a month)', 'new rules'),
      'Publish and migrate',
    ),
  ],
  'workflows/$created': [
    dialog('pages/workflows/steps/ScheduleFields.tsx', 'Conditions', step('Trigger'), 'Add conditions'),
  ],
  activity: [
    {
      ...dialog('app/SignInAgain.tsx', 'Your session has ended', async (page) => {
        await page.route('**/activity?*', (route) => route.fulfill({ status: 401, body: '' }));
        await page.getByLabel('Type', { exact: true }).selectOption({ index: 1 });
      }),
      stays: true,
    },
  ],
};

/** Files in which the components of dialogs and menus are named and nothing is opened that another file does not open. */
export const drawnElsewhere: Readonly<Record<string, string>> = {
  'ui/overlays/OpenDialog.tsx': 'draws every dialog',
  'ui/overlays/OpenMenu.tsx': 'draws every menu',
  'ui/RotateDialog.tsx': 'is the dialog of keys and of signing secrets, which have a row each',
};

/** How many dialogs and menus a file of the dashboard renders, by their role. */
export function renderedIn(source: string): Record<Opening['role'], number> {
  const count = (names: string) => source.match(new RegExp(`(?<!\\w)<(?:${names})(?=\\s)`, 'g'))?.length ?? 0;
  return {
    dialog: count('Dialog|Dialog\\.Root|Primitive\\.Root|RotateDialog'),
    alertdialog: count('ConfirmDialog|AlertDialog\\.Root'),
    menu: count('Menu'),
  };
}

import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/Dialog.tsx';
import { SelectField, TextField } from '../../ui/Field.tsx';
import { Form, FormProblem, problemOf } from '../../ui/Form.tsx';
import { Card } from '../../ui/Page.tsx';
import { Note } from '../../ui/States.tsx';
import { toast } from '../../ui/toasts.tsx';
import { timeZones } from '../campaigns/rules/zones.ts';
import { HoldoutForm } from './HoldoutForm.tsx';
import { mayAdminister, type Project } from './project.ts';
import { QuietHours } from './QuietHours.tsx';
import { Retention } from './Retention.tsx';
import { useSaved } from './saved.ts';
import { TestAddresses } from './TestAddresses.tsx';

const trackings: Record<Project['tracking'], string> = {
  ENABLED: 'All emails',
  MARKETING_ONLY: 'Campaigns and workflows only',
  DISABLED: 'No emails',
};

/** Name, tracking and language, and what ends a project. */
export function ProjectForm({ project }: { project: Project }) {
  const isAdmin = mayAdminister(project);
  return (
    <div className="stack">
      {project.disabled ? (
        <Note tone="bad">
          This project is disabled ({project.disabledReason ?? 'by the operator'}): nothing is sent.
        </Note>
      ) : null}
      {isAdmin ? null : <Note>Only admins and the owner can change these settings.</Note>}
      <SettingsCard project={project} isAdmin={isAdmin} />
      <QuietHours project={project} isAdmin={isAdmin} />
      <HoldoutForm project={project} isAdmin={isAdmin} />
      <TestAddresses project={project} isAdmin={isAdmin} />
      <Retention project={project} isAdmin={isAdmin} />
      {isAdmin ? <DangerZone project={project} /> : null}
    </div>
  );
}

function SettingsCard({ project, isAdmin }: { project: Project; isAdmin: boolean }) {
  const [name, setName] = useState(project.name);
  const [tracking, setTracking] = useState(project.tracking);
  const [language, setLanguage] = useState(project.language);
  const [timeZone, setTimeZone] = useState(project.timeZone ?? '');
  const [approvalAbove, setApprovalAbove] = useState(String(project.approvalAbove ?? ''));
  const save = useSaved(project.id, 'Settings saved');
  return (
    <Card title="Project">
      <Form
        onSubmit={() =>
          save.mutate({
            name,
            tracking,
            language,
            timeZone: timeZone || null,
            approvalAbove: approvalAbove === '' ? null : Number(approvalAbove),
          })
        }
      >
        <FormProblem error={save.error} fields={['name', 'language', 'timeZone', 'approvalAbove']} />
        <TextField
          label="Name"
          required
          disabled={!isAdmin}
          value={name}
          problem={problemOf(save.error, 'name')}
          onChange={(event) => setName(event.target.value)}
        />
        <SelectField
          label="Track opens and clicks"
          disabled={!isAdmin}
          value={tracking}
          onChange={(event) => setTracking(event.target.value as Project['tracking'])}
        >
          {Object.entries(trackings).map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </SelectField>
        <TextField
          label="Language"
          hint="A language tag such as en, de or pt. Used in email footers and recipient pages when a contact has no locale."
          disabled={!isAdmin}
          value={language}
          problem={problemOf(save.error, 'language')}
          onChange={(event) => setLanguage(event.target.value)}
        />
        <ZoneField
          disabled={!isAdmin}
          value={timeZone}
          problem={problemOf(save.error, 'timeZone')}
          onChange={setTimeZone}
        />
        <TextField
          label="Approval for campaigns above"
          hint="Members’ campaigns to more contacts than this wait for an admin. Leave empty to send without approval."
          type="number"
          min={0}
          disabled={!isAdmin}
          value={approvalAbove}
          problem={problemOf(save.error, 'approvalAbove')}
          onChange={(event) => setApprovalAbove(event.target.value)}
        />
        <div>
          <Button type="submit" variant="primary" busy={save.isPending} disabled={!isAdmin}>
            Save
          </Button>
        </div>
      </Form>
    </Card>
  );
}

function ZoneField({
  disabled,
  value,
  problem,
  onChange,
}: {
  disabled: boolean;
  value: string;
  problem: string | undefined;
  onChange: (zone: string) => void;
}) {
  // A zone that was set by another of its names is not in the browser's list.
  const zones = useMemo(() => [...new Set([...timeZones(), ...(value === '' ? [] : [value])])], [value]);
  return (
    <SelectField
      label="Time zone"
      hint="The first choice where your team sets the time of a campaign."
      disabled={disabled}
      value={value}
      problem={problem}
      onChange={(event) => onChange(event.target.value)}
    >
      <option value="">That of each member’s browser</option>
      {zones.map((each) => (
        <option key={each}>{each}</option>
      ))}
    </SelectField>
  );
}

function DangerZone({ project }: { project: Project }) {
  const [ending, setEnding] = useState<'reset' | 'delete' | null>(null);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const path = { id: project.id };
  return (
    <>
      <Card title="Danger zone">
        <div className="row">
          <Button variant="danger" onClick={() => setEnding('reset')}>
            Reset project
          </Button>
          <Button variant="danger" onClick={() => setEnding('delete')}>
            Delete project
          </Button>
        </div>
      </Card>
      {ending === 'reset' ? (
        <ConfirmDialog
          title={`Reset ${project.name}?`}
          action="Delete all data"
          typed={project.name}
          onConfirm={async () => {
            await answer(api.POST('/users/@me/projects/{id}/reset', { params: { path } }));
            await queries.invalidateQueries();
            toast(`${project.name} is being reset`);
          }}
          onClose={() => setEnding(null)}
        >
          All contacts, events, emails, campaigns, templates, segments and workflows of {project.name} are deleted.
          Keys, members and domains are kept.
        </ConfirmDialog>
      ) : null}
      {ending === 'delete' ? (
        <ConfirmDialog
          title={`Delete ${project.name}?`}
          action="Delete project"
          typed={project.name}
          onConfirm={async () => {
            await answer(api.DELETE('/users/@me/projects/{id}', { params: { path } }));
            await queries.invalidateQueries({ queryKey: ['projects'] });
            await navigate({ to: '/app' });
          }}
          onClose={() => setEnding(null)}
        >
          {project.name} and everything in it are deleted. Its keys stop working immediately, and its team loses access.
        </ConfirmDialog>
      ) : null}
    </>
  );
}

import { Link } from '@tanstack/react-router';
import { Ellipsis, Trash2, Users } from 'lucide-react';
import { useProjectId } from '../../../app/address.ts';
import { Badge } from '../../../ui/Badge.tsx';
import { Button, buttonClass } from '../../../ui/Button.tsx';
import { Menu, MenuItem } from '../../../ui/Menu.tsx';
import { count, counted } from '../../../words/numbers.ts';
import { WorkflowSwitch } from '../publish/WorkflowSwitch.tsx';
import type { People, Workflow } from '../workflow.ts';
import type { Editing } from './editing.ts';

/** Whether an automation is enabled, how many contacts are in it, and what it is for. */
export function DesignerAbout({ workflow, people }: { workflow: Workflow; people: People | undefined }) {
  const { enabled, description } = workflow;
  return (
    <>
      <Badge {...(enabled ? { tone: 'good' as const } : {})}>{enabled ? 'Enabled' : 'Disabled'}</Badge>{' '}
      {people ? (
        <>
          {counted(people.active, 'contact')} in this workflow
          {people.arriving > 0 ? `, ${count(people.arriving)} entering` : ''}
        </>
      ) : null}
      {description ? (
        <span className="max-md:hidden" dir="auto">
          {' '}
          · {description}
        </span>
      ) : null}
    </>
  );
}

/** The actions for an automation as a whole. */
export function DesignerActions({
  workflow,
  editing,
  onRefused,
  onTest,
  onMigrate,
  onDelete,
}: {
  workflow: Workflow;
  editing: Editing;
  onRefused: (error: unknown) => void;
  onTest: () => void;
  onMigrate: () => void;
  onDelete: () => void;
}) {
  const project = useProjectId();
  return (
    <>
      <Link
        className={buttonClass()}
        to="/app/$project/workflows/$workflow/executions"
        params={{ project, workflow: workflow.id }}
      >
        Runs
      </Link>
      <Button onClick={onTest}>Test</Button>
      <Menu
        trigger={
          <Button aria-label="More actions">
            <Ellipsis aria-hidden />
          </Button>
        }
      >
        <MenuItem onSelect={onMigrate}>
          <Users aria-hidden /> Migrate contacts
        </MenuItem>
        <MenuItem onSelect={onDelete}>
          <Trash2 aria-hidden /> Delete workflow
        </MenuItem>
      </Menu>
      <WorkflowSwitch workflow={workflow} editing={editing} onRefused={onRefused} />
    </>
  );
}

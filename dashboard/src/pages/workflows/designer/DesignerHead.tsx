import { Link } from '@tanstack/react-router';
import { Ellipsis } from 'lucide-react';
import { useProjectId } from '../../../app/address.ts';
import { usePart } from '../../../standby/use-part.ts';
import { Badge } from '../../../ui/Badge.tsx';
import { Button, buttonClass } from '../../../ui/Button.tsx';
import { Menu } from '../../../ui/Menu.tsx';
import { count, counted } from '../../../words/numbers.ts';
import { WorkflowSwitch } from '../publish/WorkflowSwitch.tsx';
import { type People, stateOf, type Workflow } from '../workflow.ts';
import type { OpenDialog } from './DesignerDialogs.tsx';
import type { Editing } from './editing.ts';

/** Whether an automation is enabled, how many contacts are in it, and what it is for. */
export function DesignerAbout({ workflow, people }: { workflow: Workflow; people: People | undefined }) {
  const { description, rollout } = workflow;
  return (
    <>
      <Badge {...stateOf(workflow)} />{' '}
      {rollout?.state === 'RUNNING' ? (
        <Badge tone="info">{`Version ${rollout.version} at ${rollout.percent}%`}</Badge>
      ) : null}{' '}
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

const loadMenu = () => import('./DesignerMenu.tsx');

/** The actions for an automation as a whole. */
export function DesignerActions({
  workflow,
  editing,
  onRefused,
  onOpen,
}: {
  workflow: Workflow;
  editing: Editing;
  onRefused: (error: unknown) => void;
  onOpen: (dialog: OpenDialog) => void;
}) {
  const project = useProjectId();
  const menu = usePart(loadMenu);
  const { rollout } = workflow;
  return (
    <>
      <Link
        className={buttonClass()}
        to="/app/$project/workflows/$workflow/executions"
        params={{ project, workflow: workflow.id }}
      >
        Runs
      </Link>
      {/* Once it has ended, until another graph is published or edited. */}
      {rollout && (rollout.endedAt ?? '9') >= (workflow.editedAt ?? '') ? (
        <Button onClick={() => onOpen('rollout')}>Rollout</Button>
      ) : null}
      <Button onClick={() => onOpen('test')}>Test</Button>
      <Button onClick={() => onOpen('simulate')}>Simulate</Button>
      <Menu
        trigger={
          <Button aria-label="More actions">
            <Ellipsis aria-hidden />
          </Button>
        }
      >
        {menu ? <menu.DesignerMenu workflow={workflow} onOpen={onOpen} /> : null}
      </Menu>
      <WorkflowSwitch workflow={workflow} editing={editing} onRefused={onRefused} />
    </>
  );
}

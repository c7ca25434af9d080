import { useNavigate } from '@tanstack/react-router';
import { useProjectId } from '../../../app/address.ts';
import { usePart } from '../../../standby/use-part.ts';
import { DeleteWorkflow } from '../DeleteWorkflow.tsx';
import { PeopleDialog } from '../executions/PeopleDialog.tsx';
import { type DraftStep, withoutStep } from '../graph/draft.ts';
import { MigrateDialog } from '../publish/MigrateDialog.tsx';
import { PauseDialog } from '../publish/PauseDialog.tsx';
import { PublishDialog } from '../publish/PublishDialog.tsx';
import { RolloutDialog } from '../publish/RolloutDialog.tsx';
import { DeleteStep } from '../steps/DeleteStep.tsx';
import { TestRunDialog } from '../test-run/TestRunDialog.tsx';
import type { Workflow } from '../workflow.ts';
import type { Editing } from './editing.ts';
import type { ShownTest } from './shown.ts';

/** Which dialog is open. */
export type OpenDialog =
  | 'step'
  | 'people'
  | 'workflow'
  | 'migrate'
  | 'publish'
  | 'pause'
  | 'enroll'
  | 'rollout'
  | 'test'
  | 'simulate'
  | null;

export interface DesignerDialogsProps {
  open: OpenDialog;
  workflow: Workflow;
  editing: Editing;
  step: DraftStep | undefined;
  onShowTest: (test: ShownTest) => void;
  onClose: () => void;
}

const loadEnrolling = () => import('../executions/EnrollDialog.tsx');
const loadSimulating = () => import('../simulation/SimulateDialog.tsx');

/** The dialog of the designer that is open. */
export function DesignerDialogs({ open, workflow, editing, step, onShowTest, onClose }: DesignerDialogsProps) {
  const project = useProjectId();
  const navigate = useNavigate();
  const { id, name, steps } = workflow;
  const enrolling = usePart(loadEnrolling, open === 'enroll');
  const simulating = usePart(loadSimulating, open === 'simulate');
  if (open === 'migrate') return <MigrateDialog workflow={workflow} onClose={onClose} />;
  if (open === 'enroll') return enrolling ? <enrolling.EnrollDialog workflow={workflow} onClose={onClose} /> : null;
  if (open === 'pause') return <PauseDialog workflow={workflow} onClose={onClose} />;
  if (open === 'rollout') return <RolloutDialog workflow={workflow} editing={editing} onClose={onClose} />;
  if (open === 'test')
    return <TestRunDialog workflow={id} graph={editing.graph} onShow={onShowTest} onClose={onClose} />;
  if (open === 'simulate')
    return simulating ? (
      <simulating.SimulateDialog workflow={workflow} editing={editing} onShow={onShowTest} onClose={onClose} />
    ) : null;
  if (open === 'publish') return <PublishDialog workflow={workflow} editing={editing} onClose={onClose} />;
  if (open === 'workflow')
    return (
      <DeleteWorkflow
        workflow={{ id, name, steps: steps.length, revision: editing.revision }}
        onDeleted={() => navigate({ to: '/app/$project/workflows', params: { project }, ignoreBlocker: true })}
        onClose={onClose}
      />
    );
  if (open === 'people' && step) return <PeopleDialog workflow={id} step={step} onClose={onClose} />;
  if (open === 'step' && step)
    return (
      <DeleteStep
        graph={editing.graph}
        step={step}
        onDelete={(splice) => editing.edit((before) => withoutStep(before, step.id, splice))}
        onClose={onClose}
      />
    );
  return null;
}

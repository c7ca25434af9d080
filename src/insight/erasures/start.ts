import { type StartCommand, workflowId } from '../../../temporal/commands.ts';

/** The command that starts the execution of an erasure. */
export function startOfErasure(id: string, projectId: string): StartCommand {
  return {
    type: 'start',
    workflow: 'eraseContact',
    id: workflowId.erase(id),
    input: { erasureId: id },
    searchAttributes: { Kind: 'erase', ProjectId: projectId },
  };
}

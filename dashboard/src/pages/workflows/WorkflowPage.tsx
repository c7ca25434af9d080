import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useProjectId } from '../../app/address.ts';
import { Shown } from '../../ui/States.tsx';
import { Designer } from './designer/Designer.tsx';
import { workflowQuery } from './workflow.ts';

/** One automation: its graph to draw and to watch. */
export function WorkflowPage() {
  const project = useProjectId();
  const { workflow: id = '' } = useParams({ strict: false });
  // Asked again, so that the work of others is seen soon.
  const workflow = useQuery({ ...workflowQuery(project, id), refetchInterval: 10_000 });
  return <Shown query={workflow}>{(loaded) => <Designer key={loaded.id} workflow={loaded} />}</Shown>;
}

import { useQuery } from '@tanstack/react-query';
import { deployment } from '../../app/deployment.ts';
import { Note, Shown } from '../../ui/States.tsx';
import { Limits } from './Limits.tsx';
import { Payments } from './Payments.tsx';
import type { Project } from './project.ts';

/** Shows the monthly quota of the project, and its costs where this deployment charges. */
export function Billing({ project }: { project: Project }) {
  const config = useQuery(deployment);
  return (
    <div className="stack">
      <Limits project={project} />
      <Shown query={config}>
        {({ features }) =>
          features.billing.enabled ? (
            <Payments project={project} />
          ) : (
            <Note>Payments are not set up on this installation. The limits above still apply.</Note>
          )
        }
      </Shown>
    </div>
  );
}

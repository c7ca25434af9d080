import { useQueryClient } from '@tanstack/react-query';
import { Note } from '../../../ui/States.tsx';
import { mayAdminister, type Project } from '../project.ts';
import { Invitations } from './Invitations.tsx';
import { InviteForm } from './InviteForm.tsx';
import { Members } from './Members.tsx';

/** Who works on the project, who was invited to, and what each may do. */
export function Team({ project }: { project: Project }) {
  const queries = useQueryClient();
  const isAdmin = mayAdminister(project);
  return (
    <div className="stack">
      {isAdmin ? (
        <InviteForm
          project={project}
          onInvited={() => queries.invalidateQueries({ queryKey: ['invitations', project.id] })}
        />
      ) : null}
      <Members project={project} isAdmin={isAdmin} />
      <Invitations project={project} isAdmin={isAdmin} />
      <Note>
        Members work with contacts and emails. Admins can also change settings, keys, domains, billing and the team.
      </Note>
    </div>
  );
}

import { useQuery } from '@tanstack/react-query';
import type { components } from '../../api/schema.d.ts';
import { useProjectId } from '../../app/address.ts';
import { myProjects } from '../../app/session.ts';

/** A project as its members see it. */
export type Project = components['schemas']['OwnProject'];

/** Whether the viewer may change settings of the project they look at; not until that is known. */
export function useMayAdminister(): boolean {
  const project = useOwnProject();
  return project !== undefined && mayAdminister(project);
}

/** Whether the viewer is an owner of the project they look at; not until that is known. */
export function useIsOwner(): boolean {
  return useOwnProject()?.role === 'OWNER';
}

/** The project that the viewer looks at; undefined until it is known. */
export function useOwnProject(): Project | undefined {
  const id = useProjectId();
  const { data = [] } = useQuery(myProjects);
  return data.find((each) => each.id === id);
}

/** Whether the viewer may change settings, keys and members (the roles table of the API guide). */
export function mayAdminister({ role }: Project): boolean {
  return role === 'ADMIN' || role === 'OWNER';
}

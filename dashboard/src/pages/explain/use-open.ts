import { useRouter } from '@tanstack/react-router';
import { useProjectId } from '../../app/address.ts';

/** Opens a place that the API names, without the project that it is in. */
export function useOpen(): (place: string) => void {
  const project = useProjectId();
  const { history } = useRouter();
  return (place) => history.push(`/app/${project}${place}`);
}

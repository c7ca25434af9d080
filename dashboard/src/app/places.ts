import type { LinkProps } from '@tanstack/react-router';
import { House, type LucideIcon, Users } from 'lucide-react';

interface Place {
  name: string;
  to: Extract<LinkProps['to'], `/app/$project${string}`>;
  icon: LucideIcon;
}

/** The pages that the menu leads to, in its order. */
export const places: { title: string; pages: Place[] }[] = [
  { title: 'Project', pages: [{ name: 'Overview', to: '/app/$project', icon: House }] },
  { title: 'Audience', pages: [{ name: 'Contacts', to: '/app/$project/contacts', icon: Users }] },
];

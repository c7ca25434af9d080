import type { LinkProps } from '@tanstack/react-router';
import {
  Activity,
  ChartLine,
  FileText,
  Globe,
  House,
  ListFilter,
  type LucideIcon,
  MousePointerClick,
  Send,
  ShieldBan,
  SlidersHorizontal,
  Tags,
  Users,
  Workflow,
} from 'lucide-react';

interface Place {
  name: string;
  to: Extract<LinkProps['to'], `/app/$project${string}`>;
  icon: LucideIcon;
}

/** The pages that the menu leads to, in its order. */
export const places: { title: string; pages: Place[] }[] = [
  {
    title: 'Project',
    pages: [
      { name: 'Overview', to: '/app/$project', icon: House },
      { name: 'Activity', to: '/app/$project/activity', icon: Activity },
      { name: 'Analytics', to: '/app/$project/analytics', icon: ChartLine },
    ],
  },
  {
    title: 'Audience',
    pages: [
      { name: 'Contacts', to: '/app/$project/contacts', icon: Users },
      { name: 'Segments', to: '/app/$project/segments', icon: ListFilter },
      { name: 'Events', to: '/app/$project/events', icon: MousePointerClick },
      { name: 'Fields', to: '/app/$project/contact-fields', icon: Tags },
    ],
  },
  {
    title: 'Mail',
    pages: [
      { name: 'Campaigns', to: '/app/$project/campaigns', icon: Send },
      { name: 'Templates', to: '/app/$project/templates', icon: FileText },
      { name: 'Suppressions', to: '/app/$project/suppressions', icon: ShieldBan },
    ],
  },
  {
    title: 'Automation',
    pages: [{ name: 'Workflows', to: '/app/$project/workflows', icon: Workflow }],
  },
  {
    title: 'Set-up',
    pages: [
      { name: 'Domains', to: '/app/$project/domains', icon: Globe },
      { name: 'Settings', to: '/app/$project/settings', icon: SlidersHorizontal },
    ],
  },
];

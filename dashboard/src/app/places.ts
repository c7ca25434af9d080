import type { LinkProps } from '@tanstack/react-router';
import {
  Activity,
  ChartLine,
  FileText,
  Globe,
  House,
  ListFilter,
  type LucideIcon,
  Mail,
  MousePointerClick,
  Send,
  Settings,
  ShieldBan,
  ShieldCheck,
  Tags,
  Users,
  Workflow,
} from 'lucide-react';

export interface Place {
  name: string;
  to: Extract<LinkProps['to'], `/app/$project${string}`>;
  icon: LucideIcon;
  /** The key that opens it after `g`. */
  letter: string;
}

/** The pages that the sidebar leads to, in its order. */
export const places: { title: string; pages: Place[] }[] = [
  {
    title: 'Project',
    pages: [
      { name: 'Overview', to: '/app/$project', icon: House, letter: 'o' },
      { name: 'Activity', to: '/app/$project/activity', icon: Activity, letter: 'a' },
      { name: 'Analytics', to: '/app/$project/analytics', icon: ChartLine, letter: 'n' },
    ],
  },
  {
    title: 'Audience',
    pages: [
      { name: 'Contacts', to: '/app/$project/contacts', icon: Users, letter: 'c' },
      { name: 'Segments', to: '/app/$project/segments', icon: ListFilter, letter: 's' },
      { name: 'Events', to: '/app/$project/events', icon: MousePointerClick, letter: 'e' },
      { name: 'Fields', to: '/app/$project/contact-fields', icon: Tags, letter: 'f' },
    ],
  },
  {
    title: 'Email',
    pages: [
      { name: 'Emails', to: '/app/$project/emails', icon: Mail, letter: 'l' },
      { name: 'Campaigns', to: '/app/$project/campaigns', icon: Send, letter: 'm' },
      { name: 'Templates', to: '/app/$project/templates', icon: FileText, letter: 't' },
      { name: 'Suppressions', to: '/app/$project/suppressions', icon: ShieldBan, letter: 'u' },
    ],
  },
  {
    title: 'Automation',
    pages: [{ name: 'Workflows', to: '/app/$project/workflows', icon: Workflow, letter: 'w' }],
  },
  {
    title: 'Setup',
    pages: [
      { name: 'Domains', to: '/app/$project/domains', icon: Globe, letter: 'd' },
      { name: 'Deliverability', to: '/app/$project/deliverability', icon: ShieldCheck, letter: 'v' },
      { name: 'Settings', to: '/app/$project/settings', icon: Settings, letter: ',' },
    ],
  },
];

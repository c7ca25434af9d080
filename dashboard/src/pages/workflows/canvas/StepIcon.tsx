import {
  AlarmClock,
  CircleStop,
  Clock,
  Hourglass,
  type LucideIcon,
  Mail,
  Percent,
  Split,
  UserPen,
  Webhook,
  Zap,
} from 'lucide-react';
import type { StepType } from '../graph/shapes.ts';

const icons: Record<StepType, LucideIcon> = {
  TRIGGER: Zap,
  SEND_EMAIL: Mail,
  DELAY: Clock,
  WAIT_FOR_EVENT: Hourglass,
  WAIT_UNTIL: AlarmClock,
  CONDITION: Split,
  SPLIT: Percent,
  WEBHOOK: Webhook,
  UPDATE_CONTACT: UserPen,
  EXIT: CircleStop,
};

/** The icon of a type of step, beside its name. */
export function StepIcon({ type }: { type: StepType }) {
  const Icon = icons[type];
  return <Icon aria-hidden className="step-icon" data-type={type} />;
}

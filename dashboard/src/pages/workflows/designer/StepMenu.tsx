import type { ReactElement } from 'react';
import { Menu, MenuItem, MenuLabel } from '../../../ui/Menu.tsx';
import { StepIcon } from '../canvas/StepIcon.tsx';
import { type Addable, addable, stepNames } from '../graph/graph.ts';

/** A menu of the types of steps that can be added. */
export function StepMenu({
  label,
  trigger,
  without = [],
  onChoose,
}: {
  label: string;
  trigger: ReactElement;
  without?: readonly Addable[];
  onChoose: (type: Addable) => void;
}) {
  return (
    <Menu trigger={trigger}>
      <MenuLabel>{label}</MenuLabel>
      {addable
        .filter(({ type }) => !without.includes(type))
        .map(({ type }) => (
          <MenuItem key={type} onSelect={() => onChoose(type)}>
            <StepIcon type={type} /> {stepNames[type]}
          </MenuItem>
        ))}
    </Menu>
  );
}

import {
  type ComponentType,
  cloneElement,
  createContext,
  type KeyboardEvent,
  type PointerEvent,
  type ReactElement,
  type ReactNode,
  useContext,
  useId,
  useRef,
  useState,
} from 'react';
import { useOverlays } from './overlays/use-overlays.ts';

interface ItemProps {
  onSelect: () => void;
  children: ReactNode;
}
interface ChoiceProps<Value extends string> {
  label: string;
  value: Value;
  choices: readonly (readonly [value: Value, text: string])[];
  onChange: (value: Value) => void;
}
interface CheckProps {
  checked: boolean;
  onChange: (checked: boolean) => void;
  children: ReactNode;
}

/** The context that an open menu gives its items. */
export interface MenuItems {
  Item: ComponentType<ItemProps>;
  Choice: ComponentType<Omit<ChoiceProps<string>, 'onChange'> & { onChange: (value: string) => void }>;
  Check: ComponentType<CheckProps>;
  Label: ComponentType<{ children: ReactNode }>;
  Separator: ComponentType;
}
export const MenuItemsContext = createContext<MenuItems | null>(null);

function useItems(): MenuItems {
  const items = useContext(MenuItemsContext);
  if (items === null) throw new Error('An item of a menu is outside of a menu.');
  return items;
}

/** A menu that its trigger opens: a button, by a press or by Enter, Space and the arrow down. */
export function Menu({ trigger, children }: { trigger: ReactElement; children: ReactNode }) {
  const [opened, setOpened] = useState<'pointer' | 'key' | null>(null);
  const button = useRef<HTMLElement>(null);
  const [buttonId, contentId] = [useId(), useId()];
  const part = useOverlays(opened !== null);
  const isOpen = opened !== null;
  return (
    <>
      {cloneElement(
        trigger as ReactElement<object>,
        {
          ref: button,
          id: buttonId,
          'aria-haspopup': 'menu',
          'aria-expanded': isOpen,
          'aria-controls': isOpen && part ? contentId : undefined,
          'data-state': isOpen ? 'open' : 'closed',
          onPointerDown: (event: PointerEvent) => {
            if (event.button !== 0 || event.ctrlKey) return;
            // The focus goes to the menu, and not to the button after it.
            if (!isOpen) event.preventDefault();
            setOpened(isOpen ? null : 'pointer');
          },
          onKeyDown: (event: KeyboardEvent) => {
            if (!['Enter', ' ', 'ArrowDown'].includes(event.key)) return;
            event.preventDefault();
            setOpened('key');
          },
        } as object,
      )}
      {part ? (
        <part.OpenMenu
          button={button}
          buttonId={buttonId}
          contentId={contentId}
          isOpen={isOpen}
          isByKey={opened === 'key'}
          onClose={() => setOpened(null)}
        >
          {children}
        </part.OpenMenu>
      ) : null}
    </>
  );
}

/** Something that can be done. */
export function MenuItem(props: ItemProps) {
  const { Item } = useItems();
  return <Item {...props} />;
}

/** One of several values; the one that holds is marked. */
export function MenuChoice<Value extends string>({ onChange, ...props }: ChoiceProps<Value>) {
  const { Choice } = useItems();
  return <Choice {...props} onChange={(chosen) => onChange(chosen as Value)} />;
}

/** Something that is on or off; the menu stays open, because more than one is often chosen. */
export function MenuCheck(props: CheckProps) {
  const { Check } = useItems();
  return <Check {...props} />;
}

/** The heading of a part of a menu. */
export function MenuLabel(props: { children: ReactNode }) {
  const { Label } = useItems();
  return <Label {...props} />;
}

/** A line between parts of a menu. */
export function MenuSeparator() {
  const { Separator } = useItems();
  return <Separator />;
}

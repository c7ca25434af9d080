import * as Primitive from '@radix-ui/react-menu';
import { Check } from 'lucide-react';
import { type ReactNode, type RefObject, useEffect, useRef } from 'react';
import { type MenuItems, MenuItemsContext } from '../Menu.tsx';

const item =
  'flex cursor-pointer items-center gap-2 rounded px-2 py-1.5 -outline-offset-2 select-none data-highlighted:bg-hover [&_svg]:size-4 [&_svg]:shrink-0 [&_svg]:text-muted';

/** A menu at the button that opens it. */
export function OpenMenu({
  button,
  buttonId,
  contentId,
  isOpen,
  isByKey,
  onClose,
  children,
}: {
  button: RefObject<HTMLElement | null>;
  buttonId: string;
  contentId: string;
  isOpen: boolean;
  /** Whether it was opened by a key, which begins with the first item. */
  isByKey: boolean;
  onClose: () => void;
  children: ReactNode;
}) {
  return (
    <Primitive.Root open={isOpen} onOpenChange={(open) => !open && onClose()} modal>
      <Primitive.Anchor virtualRef={button as RefObject<HTMLElement>} />
      <Primitive.Portal>
        <Primitive.Content
          id={contentId}
          aria-labelledby={buttonId}
          className="break z-20 max-h-(--radix-popper-available-height) min-w-52 max-w-[min(22rem,calc(100vw-2rem))] overflow-auto rounded-lg border border-line bg-raised p-1 text-base shadow-float"
          align="start"
          sideOffset={4}
          onCloseAutoFocus={(event) => {
            event.preventDefault();
            button.current?.focus();
          }}
        >
          {isByKey ? <FirstItem /> : null}
          <MenuItemsContext value={items}>{children}</MenuItemsContext>
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  );
}

// Gives the focus to the first item, once the menu has taken it.
function FirstItem() {
  const place = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    const menu = place.current?.closest('[role=menu]');
    const timer = setTimeout(() => menu?.querySelector<HTMLElement>('[role^=menuitem]:not([data-disabled])')?.focus());
    return () => clearTimeout(timer);
  }, []);
  return <span ref={place} hidden />;
}

const items: MenuItems = {
  Item: ({ onSelect, children }) => (
    <Primitive.Item className={item} onSelect={onSelect}>
      {children}
    </Primitive.Item>
  ),
  Choice: ({ label, value, choices, onChange }) => (
    <Primitive.RadioGroup aria-label={label} value={value} onValueChange={onChange}>
      {choices.map(([each, text]) => (
        <Primitive.RadioItem key={each} className={item} value={each}>
          <span className="flex-1">{text}</span>
          <Chosen />
        </Primitive.RadioItem>
      ))}
    </Primitive.RadioGroup>
  ),
  Check: ({ checked, onChange, children }) => (
    <Primitive.CheckboxItem
      className={item}
      checked={checked}
      onCheckedChange={onChange}
      onSelect={(event) => event.preventDefault()}
    >
      <span className="flex-1">{children}</span>
      <Chosen />
    </Primitive.CheckboxItem>
  ),
  Label: ({ children }) => <Primitive.Label className="px-2 py-1 text-xs text-muted">{children}</Primitive.Label>,
  Separator: () => <Primitive.Separator className="-mx-1 my-1 h-px bg-line" />,
};

function Chosen() {
  return (
    <Primitive.ItemIndicator>
      <Check aria-hidden />
    </Primitive.ItemIndicator>
  );
}

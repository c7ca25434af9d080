import { usePart } from '../../standby/use-part.ts';

const load = () => import('./overlays.ts');

/**
 * The code that renders dialogs, menus and tips, which no page shows at first. It comes as soon as somebody uses the page, and at
 * once where something `isWanted` already.
 */
export const useOverlays = (isWanted = false) => usePart(load, isWanted);

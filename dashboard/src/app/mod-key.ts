/** The key that makes a command of a letter, as this machine's keyboard has it. */
export const mod = navigator.userAgent.includes('Mac') ? '⌘' : 'Ctrl';

/** The keys that open the command palette, as this machine's keyboard has them. */
export const paletteKeys = [mod, 'K'];

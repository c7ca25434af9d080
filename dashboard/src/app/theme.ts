import { Signal } from '../api/signals.ts';

const key = 'fernpost.theme';
export type Theme = 'system' | 'light' | 'dark';

/** The themes, with what they are called. */
export const themes: readonly (readonly [Theme, string])[] = [
  ['system', 'System'],
  ['light', 'Light'],
  ['dark', 'Dark'],
];

/** The theme that was chosen in this browser. */
export const theme = new Signal<Theme>((localStorage.getItem(key) as Theme | null) ?? 'system');
apply(theme.get());

/** Changes the theme and remembers it. */
export function chooseTheme(next: Theme): void {
  theme.set(next);
  localStorage.setItem(key, next);
  apply(next);
}

function apply(next: Theme): void {
  if (next === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = next;
}

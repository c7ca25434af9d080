import { useState } from 'react';

const key = 'posthorn.theme';
type Theme = 'system' | 'light' | 'dark';

function apply(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

const kept = localStorage.getItem(key) as Theme | null;
apply(kept ?? 'system');

/** Light, dark, or as the system has it. */
export function ThemeChoice() {
  const [theme, setTheme] = useState<Theme>(kept ?? 'system');
  const choose = (next: Theme) => {
    setTheme(next);
    localStorage.setItem(key, next);
    apply(next);
  };
  return (
    <label className="theme">
      <span className="visually-hidden">Colours</span>
      <select className="input" value={theme} onChange={(event) => choose(event.target.value as Theme)}>
        <option value="system">Colours of the system</option>
        <option value="light">Light</option>
        <option value="dark">Dark</option>
      </select>
    </label>
  );
}

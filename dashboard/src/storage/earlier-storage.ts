import { storagePrefix } from '@fernpost/earlier-name';

// Values that the browser stored under the product's earlier name: last project, theme, columns, drafts. Newer values win.
try {
  for (const key of Object.keys(localStorage).filter((name) => name.startsWith(storagePrefix))) {
    const current = `fernpost.${key.slice(storagePrefix.length)}`;
    if (localStorage.getItem(current) === null) localStorage.setItem(current, localStorage.getItem(key) ?? '');
    localStorage.removeItem(key);
  }
} catch {
  // A browser that keeps nothing.
}

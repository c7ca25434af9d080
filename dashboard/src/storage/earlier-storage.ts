import { storagePrefix } from '@fernpost/earlier-name';

// What the browser has kept under the earlier name of the product: last project, theme, columns, drafts. What has been kept since wins.
try {
  for (const key of Object.keys(localStorage).filter((name) => name.startsWith(storagePrefix))) {
    const current = `fernpost.${key.slice(storagePrefix.length)}`;
    if (localStorage.getItem(current) === null) localStorage.setItem(current, localStorage.getItem(key) ?? '');
    localStorage.removeItem(key);
  }
} catch {
  // A browser that keeps nothing.
}

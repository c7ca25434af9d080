// Behavior of the pages of the documentation: choosing a language, copying, searching, and the menu on a phone.
// Without this script everything is there to read.
const stored = 'fernpost-docs-language';
const searchModule = '/docs/assets/minisearch.js';
const { earlierKey } = document.currentScript.dataset;
document.documentElement.classList.add('js');

for (const [index, group] of document.querySelectorAll('.snippets').entries()) {
  const snippets = [...group.querySelectorAll('.snippet')];
  if (snippets.length > 1) addTabs(group, snippets, index);
  else snippets[0].append(copyButton(() => snippets[0]));
}
choose(localStorage.getItem(stored) ?? localStorage.getItem(earlierKey));
setUpMenu();
setUpSearch();

function addTabs(group, snippets, index) {
  const list = document.createElement('div');
  list.setAttribute('role', 'tablist');
  list.setAttribute('aria-label', 'Language');
  const tabs = snippets.map((snippet, place) => {
    const tab = document.createElement('button');
    const { label } = snippet.dataset;
    Object.assign(tab, { type: 'button', textContent: label, id: `tab-${index}-${place}` });
    tab.setAttribute('role', 'tab');
    snippet.id = `panel-${index}-${place}`;
    tab.setAttribute('aria-controls', snippet.id);
    snippet.setAttribute('role', 'tabpanel');
    snippet.setAttribute('aria-labelledby', tab.id);
    tab.addEventListener('click', () => {
      localStorage.setItem(stored, label);
      // The page keeps its place under the pointer when snippets above get shorter.
      const before = tab.getBoundingClientRect().top;
      choose(label);
      window.scrollBy(0, tab.getBoundingClientRect().top - before);
    });
    return tab;
  });
  list.addEventListener('keydown', ({ key }) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
    if (step === undefined) return;
    const next = tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length];
    next.click();
    next.focus();
  });
  list.append(...tabs);
  const bar = document.createElement('div');
  bar.className = 'tabs';
  bar.append(
    list,
    copyButton(() => snippets.find((snippet) => !snippet.hidden)),
  );
  group.prepend(bar);
}

/** Shows a language in every group of snippets that has it, and the first one in the others. */
function choose(wanted) {
  for (const group of document.querySelectorAll('.snippets:has(.tabs)')) {
    const snippets = [...group.querySelectorAll('.snippet')];
    const shown = snippets.find(({ dataset }) => dataset.label === wanted) ?? snippets[0];
    for (const snippet of snippets) {
      snippet.hidden = snippet !== shown;
      const tab = document.getElementById(snippet.getAttribute('aria-labelledby'));
      tab.setAttribute('aria-selected', String(snippet === shown));
      tab.tabIndex = snippet === shown ? 0 : -1;
    }
  }
}

function copyButton(snippetOf) {
  const button = document.createElement('button');
  Object.assign(button, { type: 'button', className: 'copy', textContent: 'Copy' });
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(snippetOf().querySelector('code').textContent);
    button.textContent = 'Copied';
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 2_000);
  });
  return button;
}

function setUpMenu() {
  const button = document.querySelector('.menu');
  const navigation = document.getElementById('navigation');
  button.hidden = false;
  button.addEventListener('click', () => {
    const isOpen = navigation.classList.toggle('open');
    button.setAttribute('aria-expanded', String(isOpen));
  });
}

/** A combobox over the index, which is built at the first use. */
function setUpSearch() {
  const area = document.querySelector('search');
  const [input, results] = [area.querySelector('input'), area.querySelector('.results')];
  const [status, list] = [results.querySelector('p'), results.querySelector('div')];
  let loading;
  let current = -1;
  area.hidden = false;
  input.addEventListener('focus', () => load().catch(() => undefined));
  input.addEventListener('input', find);
  input.addEventListener('keydown', (event) => {
    if (event.isComposing) return;
    const { length } = list.children;
    const moves = { ArrowDown: (current + 1) % length, ArrowUp: (Math.max(current, 0) - 1 + length) % length };
    if (event.key === 'Escape') {
      input.value = '';
      close();
    } else if (event.key in moves && !results.hidden && length > 0) {
      event.preventDefault();
      mark(moves[event.key]);
    } else if (event.key === 'Enter' && !results.hidden) {
      (list.children[current] ?? list.children[0])?.click();
    }
  });
  list.addEventListener('click', close);
  area.addEventListener('focusout', ({ relatedTarget }) => {
    if (!area.contains(relatedTarget)) close();
  });
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target.matches('input, textarea, select, [contenteditable]');
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    input.focus();
  });

  function load() {
    loading ??= Promise.all([
      import(searchModule),
      fetch('/docs/search.json').then((response) => {
        if (!response.ok) throw new Error(`What is searched could not be loaded: ${response.status}`);
        return response.json();
      }),
    ]).then(async ([{ default: MiniSearch }, { options, entries }]) => {
      const search = new MiniSearch(options);
      await search.addAllAsync(entries);
      return search;
    });
    // After a failure the next use tries again.
    loading.catch(() => {
      loading = undefined;
    });
    return loading;
  }

  async function find() {
    const wanted = input.value.trim();
    if (wanted === '') return close();
    try {
      const search = await load();
      // Whoever types faster than the index loads sees the results of the last text alone.
      if (wanted === input.value.trim()) show(search.search(wanted));
    } catch {
      status.textContent = 'Search is not available. Check your connection and try again.';
      list.replaceChildren();
      open();
    }
    return undefined;
  }

  function show(found) {
    list.replaceChildren(...found.slice(0, 20).map(option));
    status.textContent =
      found.length === 0 ? 'No results' : found.length === 1 ? '1 result' : `${found.length} results`;
    current = -1;
    input.removeAttribute('aria-activedescendant');
    open();
  }

  function option({ title, place, text, address, terms }, index) {
    const link = document.createElement('a');
    Object.assign(link, { href: address, tabIndex: -1, role: 'option', id: `result-${index}`, ariaSelected: 'false' });
    const [where, excerpt] = [document.createElement('span'), document.createElement('span')];
    where.textContent = place;
    excerpt.textContent = excerptOf(text, terms);
    link.append(title, where, ...(excerpt.textContent === '' ? [] : [excerpt]));
    return link;
  }

  function mark(index) {
    list.children[current]?.setAttribute('aria-selected', 'false');
    current = index;
    const item = list.children[index];
    item.setAttribute('aria-selected', 'true');
    input.setAttribute('aria-activedescendant', item.id);
    item.scrollIntoView({ block: 'nearest' });
  }

  function open() {
    results.hidden = false;
    input.setAttribute('aria-expanded', 'true');
  }

  function close() {
    results.hidden = true;
    current = -1;
    input.setAttribute('aria-expanded', 'false');
    input.removeAttribute('aria-activedescendant');
  }
}

/** About 120 characters of a text around the first of these words. */
function excerptOf(text, terms) {
  const places = terms.map((term) => text.toLowerCase().indexOf(term)).filter((place) => place >= 0);
  const at = Math.max(0, Math.min(...places, text.length) - 40);
  const start = places.length === 0 || at === 0 ? 0 : text.indexOf(' ', at) + 1;
  const excerpt = text.slice(start, start + 120);
  return `${start > 0 ? '… ' : ''}${excerpt}${start + 120 < text.length ? ' …' : ''}`;
}

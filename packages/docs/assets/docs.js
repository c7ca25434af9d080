// What the pages of the documentation do besides being read: choosing a language, copying, searching, and the menu on a phone.
// Without this script everything is there to read.
const stored = 'fernpost-docs-language';
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

function setUpSearch() {
  const area = document.querySelector('search');
  const [input, results] = [area.querySelector('input'), area.querySelector('.results')];
  let entries;
  area.hidden = false;
  input.addEventListener('input', async () => {
    entries ??= fetch('/docs/search.json').then((response) => response.json());
    show(await entries);
  });
  area.addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape') return;
    input.value = '';
    results.hidden = true;
    input.focus();
  });
  area.addEventListener('focusout', ({ relatedTarget }) => {
    if (!area.contains(relatedTarget)) results.hidden = true;
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.target.matches('input')) return;
    event.preventDefault();
    input.focus();
  });

  function show(all) {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = all.filter(({ title, text }) =>
      words.every((word) => `${title} ${text}`.toLowerCase().includes(word)),
    );
    const list = document.createElement('ul');
    for (const { title, text, address } of found.slice(0, 20)) {
      const link = document.createElement('a');
      const detail = document.createElement('span');
      detail.textContent = text;
      link.href = address;
      link.append(title, detail);
      const item = document.createElement('li');
      item.append(link);
      list.append(item);
    }
    const count = document.createElement('p');
    count.textContent = found.length === 0 ? 'No results' : found.length === 1 ? '1 result' : `${found.length} results`;
    results.replaceChildren(count, ...(found.length === 0 ? [] : [list]));
    results.hidden = words.length === 0;
  }
}

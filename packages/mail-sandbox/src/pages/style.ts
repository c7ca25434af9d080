/** The style sheet of the inbox. Colors follow the reader's preference; nothing is loaded from elsewhere. */
export const styleSheet = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#f6f5f2, #17181b);
  --card: light-dark(#ffffff, #1f2125);
  --ink: light-dark(#1c1d20, #e9e8e4);
  --muted: light-dark(#5d6068, #a3a7b0);
  --line: light-dark(#dddad2, #34373d);
  --chosen: light-dark(#eef3f9, #262b33);
  --accent: light-dark(#0b57a8, #8ab8f2);
  --accent-ink: light-dark(#ffffff, #10151c);
  --good: light-dark(#1a6b3c, #7fd3a0);
  --bad: light-dark(#a8271b, #f19a90);
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
a { color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: 1rem; background: var(--card); padding: .5rem 1rem; }
header.top, main, footer { max-width: 70rem; margin: 0 auto; padding: 0 1rem; }
header.top { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; align-items: baseline; padding-top: 1rem; }
header.top strong { font-size: 1.15rem; }
header.top nav { display: flex; gap: 1rem; }
header.top a[aria-current] { color: var(--ink); text-decoration-thickness: 2px; }
h1 { font-size: 1.4rem; line-height: 1.25; margin: 1.25rem 0 .75rem; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 1.5rem 0 .5rem; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 1rem; }
.muted { color: var(--muted); }
.bar { display: flex; flex-wrap: wrap; gap: .5rem .75rem; align-items: end; margin: .75rem 0; }
.bar .grow { flex: 1 1 14rem; }
label { display: block; font-weight: 600; font-size: .9rem; }
label.beside { display: inline; }
input[type=text], input[type=search], textarea {
  width: 100%; font: inherit; color: inherit; background: var(--card); border: 1px solid var(--muted);
  border-radius: 6px; padding: .45rem .6rem; margin-top: .2rem;
}
button, .button {
  font: inherit; cursor: pointer; border: 1px solid var(--accent); border-radius: 6px; padding: .45rem .9rem;
  background: var(--card); color: var(--accent); text-decoration: none; display: inline-block; min-height: 2.6rem;
}
button.main { background: var(--accent); color: var(--accent-ink); }
button.danger { border-color: var(--bad); color: var(--bad); }
form.inline { display: inline; }
table { width: 100%; border-collapse: collapse; background: var(--card); }
.list { border: 1px solid var(--line); border-radius: 8px; overflow: hidden; }
th, td { text-align: left; vertical-align: top; padding: .55rem .75rem; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
tr:last-child > td { border-bottom: 0; }
.list th { font-size: .85rem; color: var(--muted); }
td.when { white-space: nowrap; }
.state { white-space: nowrap; font-size: .85rem; font-weight: 600; }
.state.good { color: var(--good); }
.state.bad { color: var(--bad); }
dl.facts { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; margin: 0; }
dl.facts dt { color: var(--muted); }
dl.facts dd { margin: 0; overflow-wrap: anywhere; }
.tabs { display: flex; flex-wrap: wrap; gap: .5rem; margin: 1rem 0 .5rem; padding: 0; list-style: none; }
.tabs a { display: inline-block; padding: .35rem .8rem; border: 1px solid var(--line); border-radius: 6px; background: var(--card); }
.tabs a[aria-current] { border-color: var(--accent); font-weight: 600; text-decoration: none; }
iframe { display: block; width: 100%; height: 70vh; resize: vertical; border: 1px solid var(--line); border-radius: 8px; background: light-dark(#ffffff, #121212); }
iframe.light { color-scheme: light; }
iframe.dark { color-scheme: dark; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; font: .85rem/1.5 ui-monospace, monospace; }
.notice { border: 1px solid var(--accent); border-radius: 8px; padding: .6rem 1rem; background: var(--card); }
.notice.bad { border-color: var(--bad); }
.buttons { display: flex; flex-wrap: wrap; gap: .5rem; }
.heading { display: flex; gap: 1rem; align-items: baseline; justify-content: space-between; }
.heading h1, .heading p, #reading > p:first-child, .card > :first-child { margin-top: 0; }
.card > :last-child { margin-bottom: 0; }
.heading h1, .heading p { margin-bottom: 0; }
#rows { list-style: none; margin: 0; padding: 0; background: var(--card); border: 1px solid var(--line); border-radius: 8px; overflow: hidden; }
#rows:empty { display: none; }
#rows li { position: relative; padding: .5rem .75rem .5rem 1.5rem; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; font-size: .9rem; }
#rows li:last-child { border-bottom: 0; }
#rows li:hover, #rows li:has([aria-current]) { background: var(--chosen); }
#rows li:has([aria-current]) { box-shadow: inset 4px 0 var(--accent); }
#rows li.unread::before { content: ''; position: absolute; left: .55rem; top: 1rem; width: .5rem; height: .5rem; border-radius: 50%; background: var(--accent); }
#rows .details .muted { display: flex; flex-wrap: wrap; gap: 0 .75rem; }
#rows a { color: var(--ink); text-decoration: none; }
#rows .unread a { font-weight: 700; }
#rows a::after { content: ''; position: absolute; inset: 0; }
#rows a:hover { text-decoration: underline; }
#rows a:focus-visible { outline: 0; }
#rows a:focus-visible::after { outline: 3px solid var(--accent); outline-offset: -3px; border-radius: 8px; }
.news { position: sticky; top: 0; z-index: 1; height: 0; margin: 0; text-align: center; }
.news button { background: var(--accent); color: var(--accent-ink); }
.center { text-align: center; padding-top: 20vh; }
.keys { display: flex; flex-wrap: wrap; gap: .25rem 1rem; align-items: center; }
.keys button { min-height: 0; padding: .1rem .6rem; }
kbd { font: .8rem ui-monospace, monospace; border: 1px solid var(--muted); border-radius: 4px; padding: 0 .3rem; background: var(--card); }
.pane { overflow-anchor: none; }
#reading[data-narrow=list], main:has(#reading[data-narrow=message]) #list { display: none; }
body.mail main { padding-top: 1rem; }
@media (min-width: 64rem) {
  body.mail { display: grid; grid-template-rows: auto minmax(0, 1fr) auto; height: 100dvh; }
  body.mail header.top, body.mail main, body.mail footer { max-width: none; width: 100%; padding-left: 1.5rem; padding-right: 1.5rem; }
  body.mail main { display: grid; grid-template-columns: minmax(20rem, 27rem) minmax(0, 1fr); gap: 1.25rem; }
  body.mail footer { padding-top: .5rem; padding-bottom: .5rem; }
  body.mail .pane, #reading[data-narrow], main:has(#reading[data-narrow=message]) #list { display: block; overflow-y: auto; padding: 4px 6px; }
}
@media (hover: none) {
  .keys:not([hidden]) { display: none; }
}
footer { color: var(--muted); font-size: .9rem; padding-top: 2rem; padding-bottom: 2rem; display: flex; flex-wrap: wrap; gap: .25rem 2rem; align-items: center; justify-content: space-between; }
footer p { margin: 0; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
@media (max-width: 42rem) {
  .list thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .list, .list tbody, .list tr, .list td, .list tbody th { display: block; }
  .list tr { border-bottom: 1px solid var(--line); padding: .5rem 0; }
  .list tr:last-child { border-bottom: 0; }
  .list td, .list tbody th { border: 0; padding: .1rem .75rem; }
  dl.facts { grid-template-columns: 1fr; gap: 0; }
  dl.facts dd { margin-bottom: .5rem; }
}
`;

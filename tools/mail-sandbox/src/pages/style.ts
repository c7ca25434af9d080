/** The style sheet of the inbox. Colors follow the reader's preference; nothing is loaded from elsewhere. */
export const styleSheet = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#ffffff, #131312);
  --sunken: light-dark(#f9f9f8, #0c0c0b);
  --card: light-dark(#ffffff, #181816);
  --ink: light-dark(#1d1c19, #efeeec);
  --muted: light-dark(#5f5e59, #b0aea7);
  --line: light-dark(#e6e5e2, #2a2a27);
  --edge: light-dark(#dad9d5, #363531);
  --control: light-dark(#918f89, #73716a);
  --hover: light-dark(#f3f3f1, #1c1c1a);
  --chosen: light-dark(#eaeae7, #252523);
  --accent: light-dark(#ad3a0b, #ff9f6b);
  --solid: light-dark(#1d1c19, #efeeec);
  --on-solid: light-dark(#ffffff, #131312);
  --good: light-dark(#18704a, #5bd49b);
  --good-soft: light-dark(#e6f5ec, #11291e);
  --bad: light-dark(#b8262b, #ff9b97);
  --bad-soft: light-dark(#fdecec, #361417);
  --info: light-dark(#0b5fab, #85bdf8);
  --info-soft: light-dark(#e8f2fc, #10243a);
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body { margin: 0; background: var(--ground); color: var(--ink); font: .875rem/1.375rem system-ui, sans-serif; }
a { color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: 1rem; background: var(--card); padding: .5rem 1rem; }
header.top, main, footer { max-width: 70rem; margin: 0 auto; padding: 0 1rem; }
header.top { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; align-items: center; padding-top: .75rem; padding-bottom: .75rem; }
header.top strong { display: flex; gap: .5rem; align-items: center; font-weight: 600; }
header.top strong::before { content: ''; width: 1.25rem; height: 1.25rem; background: url(icon.svg); }
header.top nav { display: flex; gap: .25rem; }
header.top a { padding: .25rem .5rem; border-radius: 6px; color: var(--muted); font-weight: 500; text-decoration: none; }
header.top a:hover { background: var(--hover); }
header.top a[aria-current] { background: var(--chosen); color: var(--ink); }
h1 { font-size: 1.25rem; font-weight: 600; line-height: 1.75rem; margin: 1.25rem 0 .75rem; overflow-wrap: anywhere; }
h2 { font-size: .875rem; font-weight: 600; margin: 1.5rem 0 .5rem; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 1rem; }
.muted { color: var(--muted); }
.bar { display: flex; flex-wrap: wrap; gap: .5rem .75rem; align-items: end; margin: .75rem 0; }
#actions { align-items: center; }
.bar .grow { flex: 1 1 14rem; }
label { display: block; font-weight: 500; font-size: .8125rem; }
label.beside { display: inline; }
input[type=text], input[type=search], textarea {
  width: 100%; font: inherit; color: inherit; background: var(--card); border: 1px solid var(--control);
  border-radius: 6px; padding: .3rem .6rem; margin-top: .375rem;
}
button, .button {
  font: inherit; font-weight: 500; cursor: pointer; border: 1px solid var(--edge); border-radius: 6px; padding: .3rem .75rem;
  background: var(--card); color: var(--ink); text-decoration: none; display: inline-flex; align-items: center; min-height: 2.125rem;
}
button:hover, .button:hover { background: var(--hover); }
button.main { border-color: var(--solid); background: var(--solid); color: var(--on-solid); }
button.danger { color: var(--bad); }
form.inline { display: inline; }
table { width: 100%; border-collapse: collapse; background: var(--card); }
.list { border: 1px solid var(--line); border-radius: 8px; overflow: hidden; }
th, td { text-align: left; vertical-align: top; padding: .55rem .75rem; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
tr:last-child > td { border-bottom: 0; }
.list th { font-size: .75rem; font-weight: 500; color: var(--muted); background: var(--sunken); }
.list tbody th { background: none; }
td.when { white-space: nowrap; }
.state { white-space: nowrap; font-size: .75rem; line-height: 1rem; font-weight: 500; padding: .1rem .5rem; border-radius: 1rem; background: var(--info-soft); color: var(--info); }
.state.good { background: var(--good-soft); color: var(--good); }
.state.bad { background: var(--bad-soft); color: var(--bad); }
dl.facts { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; margin: 0; }
dl.facts dt { color: var(--muted); }
dl.facts dd { margin: 0; overflow-wrap: anywhere; }
.tabs { display: flex; flex-wrap: wrap; gap: 0 1rem; margin: 1rem 0 .75rem; padding: 0; list-style: none; border-bottom: 1px solid var(--line); }
.tabs a { display: inline-block; margin-bottom: -1px; padding: .375rem 0; border-bottom: 2px solid transparent; color: var(--muted); font-weight: 500; text-decoration: none; }
.tabs a:hover { color: var(--ink); }
.tabs a[aria-current] { border-color: var(--accent); color: var(--ink); }
.choices { display: inline-flex; margin: 0 0 .75rem; padding: 2px; list-style: none; border-radius: 8px; background: var(--chosen); }
.choices a { display: inline-block; padding: .2rem .65rem; border-radius: 6px; color: var(--muted); font-weight: 500; text-decoration: none; }
.choices a[aria-current] { background: var(--card); color: var(--ink); }
details.more { margin-top: .5rem; }
details.more summary { cursor: pointer; color: var(--muted); }
details.more dl { margin-top: .5rem; }
iframe { display: block; width: 100%; height: 70vh; resize: vertical; border: 1px solid var(--line); border-radius: 8px; background: light-dark(#ffffff, #121212); }
iframe.light { color-scheme: light; }
iframe.dark { color-scheme: dark; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; font: .85rem/1.5 ui-monospace, monospace; }
.notice { border-radius: 8px; padding: .6rem 1rem; background: var(--info-soft); color: var(--info); }
.notice.bad { background: var(--bad-soft); color: var(--bad); }
.buttons { display: flex; flex-wrap: wrap; gap: .5rem; }
.heading { display: flex; gap: 1rem; align-items: baseline; justify-content: space-between; }
.heading h1, .heading p, #reading > p:first-child, .card > :first-child { margin-top: 0; }
.card > :last-child { margin-bottom: 0; }
.heading h1, .heading p { margin-bottom: 0; }
#rows { list-style: none; margin: 0; padding: 0; background: var(--card); border: 1px solid var(--line); border-radius: 8px; overflow: hidden; }
#rows:empty { display: none; }
#rows li { position: relative; padding: .5rem .75rem .5rem 1.5rem; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
#rows li:last-child { border-bottom: 0; }
#rows li:hover { background: var(--hover); }
#rows li:has([aria-current]) { background: var(--chosen); }
#rows li:has([aria-current]) { box-shadow: inset 3px 0 var(--accent); }
#rows li.unread::before { content: ''; position: absolute; left: .55rem; top: 1rem; width: .5rem; height: .5rem; border-radius: 50%; background: var(--accent); }
#rows .details .muted { display: flex; flex-wrap: wrap; gap: 0 .75rem; align-items: center; font-size: .8125rem; margin-top: .125rem; }
#rows a { color: var(--ink); text-decoration: none; }
#rows .unread a { font-weight: 600; }
#rows a::after { content: ''; position: absolute; inset: 0; }
#rows a:hover { text-decoration: underline; }
#rows a:focus-visible { outline: 0; }
#rows a:focus-visible::after { outline: 2px solid var(--accent); outline-offset: -3px; border-radius: 8px; }
.news { position: sticky; top: 0; z-index: 1; height: 0; margin: 0; text-align: center; }
.news button { border-color: var(--solid); background: var(--solid); color: var(--on-solid); }
.center { text-align: center; padding-top: 20vh; }
.keys { display: flex; flex-wrap: wrap; gap: .25rem 1rem; align-items: center; }
.keys button { min-height: 0; padding: .1rem .6rem; }
kbd { font: .75rem ui-monospace, monospace; border: 1px solid var(--edge); border-radius: 4px; padding: 0 .3rem; background: var(--card); }
.pane { overflow-anchor: none; }
#reading[data-narrow=list], main:has(#reading[data-narrow=message]) #list { display: none; }
body.mail main { padding-top: 1rem; }
body.mail header.top, body.mail footer { border-color: var(--line); border-style: solid; border-width: 0; }
@media (min-width: 64rem) {
  body.mail { display: grid; grid-template-rows: auto minmax(0, 1fr) auto; height: 100dvh; }
  body.mail header.top, body.mail main, body.mail footer { max-width: none; width: 100%; padding-left: 1.5rem; padding-right: 1.5rem; }
  body.mail main { display: grid; grid-template-columns: minmax(20rem, 27rem) minmax(0, 1fr); gap: 1.25rem; }
  body.mail header.top { border-bottom-width: 1px; }
  body.mail footer { border-top-width: 1px; padding-top: .5rem; padding-bottom: .5rem; }
  body.mail .back { display: none; }
  body.mail .back + h1 { margin-top: 0; }
  body.mail .pane, #reading[data-narrow], main:has(#reading[data-narrow=message]) #list { display: block; overflow-y: auto; padding: 4px 6px; }
}
@media (hover: none) {
  .keys:not([hidden]) { display: none; }
}
footer { color: var(--muted); font-size: .8125rem; padding-top: 2rem; padding-bottom: 2rem; display: flex; flex-wrap: wrap; gap: .25rem 2rem; align-items: center; justify-content: space-between; }
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

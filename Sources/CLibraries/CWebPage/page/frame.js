// The header: the menu of views, the session, the theme.
import { token } from './api.js';
import { button, el, link, morph } from './dom.js';
import { words } from './words.js';

const header = document.querySelector('header');
const isDark = matchMedia('(prefers-color-scheme: dark)');
/** The views of those who are no viewer or operator. */
const VIEWS = { none: ['catalog'], client: ['extract', 'catalog'] };

const chosenTheme = () => localStorage.getItem('packhorse.theme') ?? 'auto';

function showTheme() {
  const theme = chosenTheme();
  document.documentElement.dataset.theme = theme === 'auto' ? (isDark.matches ? 'dark' : 'light') : theme;
}

/** Applies the theme now and when the system changes it; `changed` is called after a change. */
export function followTheme(changed) {
  showTheme();
  isDark.addEventListener('change', () => { showTheme(); changed(); });
}

/** A narrow window shows menu and session only after its button. */
function open(isOpen) {
  header.toggleAttribute('data-open', isOpen);
  document.getElementById('menu').setAttribute('aria-expanded', String(isOpen));
}

function menu(name, role) {
  const isCurrent = (key) => key === name || (key === 'jobs' && name === 'job') || (key === 'catalog' && name === 'package');
  const shown = Object.entries(words.views).filter(([key]) => (VIEWS[role] ?? [key]).includes(key));
  return el('nav', { id: 'nav', 'aria-label': words.menu },
    shown.map(([key, text]) => el('a', { href: `#/${key}`, key, 'aria-current': isCurrent(key) ? 'page' : null }, text)));
}

function session(role, { signOut, changed }) {
  const choose = (event) => { localStorage.setItem('packhorse.theme', event.target.value); showTheme(); changed(); };
  const keep = (event) => token.set(token.get(), event.target.checked);
  return el('div', { id: 'session' }, el('span', {}, words.signIn.as(words.roles[role])),
    role === 'none' ? link(words.signIn.button, '#/overview') : [
      el('label', { class: 'line', title: words.signIn.keepWhy }, el('input', { type: 'checkbox', key: 'keep', checked: token.isKept, on: { change: keep } }), words.signIn.keep),
      button(words.signIn.out, 'out', signOut)],
    el('select', { key: 'theme', 'aria-label': words.theme, on: { change: choose } },
      Object.entries(words.themes).map(([key, text]) => el('option', { value: key, selected: key === chosenTheme() }, text))));
}

/** Draws the header of a view. `actions`: `signOut`, and `changed` after another theme. */
export function drawHeader(name, role, actions) {
  const toggle = () => open(!header.hasAttribute('data-open'));
  morph(document.getElementById('menu'), el('button', { id: 'menu', type: 'button', 'aria-controls': 'nav session', 'aria-expanded': 'false', on: { click: toggle } }, words.menu));
  morph(document.getElementById('nav'), menu(name, role));
  morph(document.getElementById('session'), session(role, actions));
  document.getElementById('skip').textContent = words.skip;
  open(false);
}

header.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape' || !header.hasAttribute('data-open')) return;
  open(false);
  document.getElementById('menu').focus();
});

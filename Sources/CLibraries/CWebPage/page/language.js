// The language of names of places.
import { words } from './words.js';

const KEY = 'packhorse.language';

/** A code of `words.catalog.languages`: the chosen one, else that of the browser, else English. */
export function language() {
  const code = localStorage.getItem(KEY) ?? navigator.language.slice(0, 2);
  return words.catalog.languages[code] ? code : 'en';
}

export const setLanguage = (code) => localStorage.setItem(KEY, code);

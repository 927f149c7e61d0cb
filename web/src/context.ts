import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Doc } from './doc';
import { type Route, parse } from './route';
import type { Rows } from './rows';

/** What every part of the page may ask for. */
export interface Page {
  doc: Doc;
  rows: Rows;
  route: Route;
  printing: boolean;
  late: boolean; // the first screen is painted; what takes long may be counted now
  say: (text: string) => void; // to those who do not see the page
}

export const PageContext = createContext<Page>(undefined as unknown as Page);

export function usePage(): Page {
  return useContext(PageContext);
}

const listeners = new Set<() => void>();

/** current is the place that the address names. */
export function current(): Route {
  return parse(location.hash);
}

/** onMove is called when the place changes. */
export function onMove(listener: () => void): () => void {
  listeners.add(listener);
  addEventListener('hashchange', listener);
  return () => {
    listeners.delete(listener);
    removeEventListener('hashchange', listener);
  };
}

/** go moves to a place; replace leaves no trace for the browser's back button, for what changes while somebody types. */
export function go(hash: string, replace = false): void {
  if (!replace) {
    location.hash = hash;
    return;
  }
  history.replaceState(null, '', hash);
  for (const listener of listeners) listener();
}

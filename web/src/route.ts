import type { Ref } from './types';

/** A place in the report, as the part of the address after # names it. */
export interface Route {
  view: string; // "", rules, rule, node, overridden, problems, status, proxies; or anything else that somebody wrote
  path: string[]; // what follows the view, decoded
  query: URLSearchParams;
}

/** parse reads the part of an address after #. What does not decode is taken as it is written. */
export function parse(hash: string): Route {
  const text = hash.replace(/^#?\/?/, '');
  const mark = text.indexOf('?');
  const [view = '', ...path] = (mark < 0 ? text : text.slice(0, mark)).split('/').map(decode);
  return { view, path, query: new URLSearchParams(mark < 0 ? '' : text.slice(mark + 1)) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const encode = encodeURIComponent;

export function nodeLink(id: string): string {
  return '#/node/' + encode(id);
}

/** ruleLink is the address of what is in force on a target. */
export function ruleLink(ref: Ref): string {
  return '#/rule/' + [ref.kind, ref.namespace ?? '', ref.name, ...(ref.section ? [ref.section] : [])].map(encode).join('/');
}

/** viewLink is the address of a view, with what is asked there; empty values are left out. */
export function viewLink(view: string, query: Record<string, string> = {}): string {
  const set = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== '')).toString();
  return `#/${view}${set ? '?' + set : ''}`;
}

import { fullName } from './text';
import type { Path, Ref } from './types';

/** via says how traffic reaches a target, listeners grouped: "gateway/infra/external (http, https)"; short without "gateway/". */
export function via(paths: Path[], target: Ref, most = Infinity, short = false): string {
  const roads = new Map<string, string[]>();
  for (const path of paths) {
    const road = short ? roadOf(path, target).replace(/^gateway\//, '') : roadOf(path, target);
    if (!road) continue;
    const entries = roads.get(road) ?? [];
    roads.set(road, entries);
    const isTarget = path.listener === target.section && (target.kind === 'Gateway' || target.kind.endsWith('ListenerSet'));
    const entry = [isTarget ? '' : path.listener, path.hostname].filter(Boolean).join(' ');
    if (entry && !entries.includes(entry)) entries.push(entry);
  }
  return shorten([...roads].map(([road, entries]) => (entries.length > 0 ? `${road} (${shorten(entries, most)})` : road)), most);
}

function shorten(names: string[], most: number): string {
  return names.length <= most ? names.join(', ') : `${names.slice(0, most).join(', ')} and ${names.length - most} more`;
}

function roadOf(p: Path, target: Ref): string {
  if (p.destination && !p.mesh && !p.dataplane && !p.gateway) return `${spelled(p.destination)} (mesh${p.direction === 'consumer' ? ', consumer' : ''})`;
  const parts: string[] = [];
  const add = (word: string, value: string | undefined): void => {
    if (value) parts.push(word + value);
  };
  add('', p.direction);
  if (target.kind === 'Gateway' && fullName(target) === p.gateway) {
    add('gatewayclass/', p.gatewayClass);
  } else {
    if (p.gateway) add('gateway/', p.gateway);
    else add('gatewayclass/', p.gatewayClass);
    if (fullName(target) !== p.listenerSet || !target.kind.endsWith('ListenerSet')) add('listenerset/', p.listenerSet);
  }
  p.delegatedFrom?.forEach((route, i) => add('delegated by ', [route, p.delegatedRules?.[i]].filter(Boolean).join('/')));
  add('mesh/', p.mesh);
  add('dataplane/', p.dataplane);
  add('to ', spelled(p.destination));
  add('binding ', p.binding);
  return parts.join(' → ');
}

/** spelled is an object of a path, which is "Service shop/cart http" there, as it is written everywhere else: "service/shop/cart/http". */
function spelled(name: string | undefined): string {
  const space = name?.indexOf(' ') ?? -1;
  return !name || space < 0 ? (name ?? '') : `${name.slice(0, space).toLowerCase()}/${name.slice(space + 1).replaceAll(' ', '/')}`;
}

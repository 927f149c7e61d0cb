// The words of why something is in force, the same as those of the terminal (pkg/view/words_table.go).
import { fullName, sameObject, sameTarget, sourceName } from './text';
import type { Effective, Loss, Path, Ref, Rule, Source } from './types';

export function levelWord(level: string): string {
  return ['gatewayClass', 'gateway', 'listenerSet', 'namespace', 'service'].includes(level) ? level[0]!.toUpperCase() + level.slice(1) : level;
}

/** why says in one line why a rule is as it is. */
export function why(item: Effective, rule: Rule): string {
  return rule.sources.length === 0 ? '-' : ground(item, rule) + outcome(rule);
}

function ground(item: Effective, rule: Rule): string {
  if (rule.sources.length > 1) return 'merged from ' + [...new Set(rule.sources.map((s) => place(item, s)))].join(', ');
  const s = rule.sources[0]!;
  const override = s.block === 'overrides';
  const condition = s.condition ? ', condition true' : '';
  if (s.builtin) return s.builtin;
  if (isHere(item, s) && !(override && rule.lost.some(isOverride))) return `set here (${levelWord(s.level)})`;
  if (override) return `override of ${place(item, s)}${condition}`;
  return `default of ${place(item, s)}${anyBelow(item, s) ? ', not replaced' : ''}${condition}`;
}

function isHere(item: Effective, s: Source): boolean {
  return sameTarget(s.target, item.target) || (!s.target.section && sameObject(s.target, item.target));
}

function place(item: Effective, s: Source): string {
  if (s.builtin) return s.builtin;
  if ((s.level === 'route' || s.level === 'rule') && !sameObject(s.target, item.target)) return 'parent ' + s.level;
  return levelWord(s.level);
}

function anyBelow(item: Effective, s: Source): boolean {
  let met = false;
  for (const use of item.policies) {
    if (sameTarget(use.target, s.target) && use.level === s.level) met = true;
    else if (met && !use.builtin && use.role !== 'ignored') return true;
  }
  return false;
}

function isOverride(loss: Loss): boolean {
  return loss.reason === 'LessSpecificOverrides' || loss.reason === 'AtomicOverridden';
}

function outcome(rule: Rule): string {
  const byOverride = rule.sources.at(-1)!.block === 'overrides';
  const beaten: string[] = [];
  const level: string[] = [];
  const replaced: string[] = [];
  for (const loss of rule.lost) {
    const name = loserName(rule, loss);
    if (isOverride(loss)) {
      if (byOverride) beaten.push(name);
    } else if (loss.reason === 'MoreSpecificWins' || loss.reason === 'AtomicReplaced') {
      if (!byOverride) replaced.push(name);
    } else if (loss.reason === 'BuiltInWins' || loss.reason === 'Conflicted') {
      beaten.push(name);
    } else if (loss.reason === 'SameLevelOrder') {
      level.push(name);
    }
  }
  return losers(', beats ', beaten, '') + losers(', beats ', level, ' (same level)') + losers(', replaces ', replaced, '');
}

function losers(verb: string, all: string[], suffix: string): string {
  const names = [...new Set(all)].sort();
  if (names.length === 0) return '';
  return verb + (names.length > 2 ? `${names[0]} and ${names.length - 1} more` : names.join(', ')) + suffix;
}

function loserName(rule: Rule, loss: Loss): string {
  const winner = rule.sources.at(-1)!;
  if (loss.policy && winner.policy && sameObject(loss.policy, winner.policy) && sameTarget(loss.target, winner.target)) return `its own ${loss.block ?? 'set'}`;
  return sourceName(loss);
}

const REASONS: Record<string, string> = {
  MoreSpecificWins: 'more specific default',
  AtomicReplaced: 'replaced whole',
  LessSpecificOverrides: 'override',
  AtomicOverridden: 'atomic override',
  SameLevelOrder: 'order on the same level',
  Unset: 'unset',
  ConditionFalse: 'condition false',
  Conflicted: 'conflict',
  BuiltInWins: 'built in',
  NotEvaluated: 'not evaluated',
  Invalid: 'policy in error',
  Shadowed: 'never reached',
  NoEffect: 'no effect',
  Ignored: 'ignored',
};

const BY: Record<string, string> = { AtomicReplaced: ' by ', LessSpecificOverrides: ' of ', AtomicOverridden: ' of ' };

/** reasonWords are the words of a loss; to are the winners, as far as they are known. */
export function reasonWords(reason: string, to: Source[]): string {
  const known = Object.hasOwn(REASONS, reason) ? REASONS[reason]! : reason;
  const level = to[0]?.level;
  return known + (level && Object.hasOwn(BY, reason) ? BY[reason] + levelWord(level) : '');
}

/** via says how traffic reaches a target, listeners grouped: "Gateway infra/external (http, https)"; short without "Gateway". */
export function via(paths: Path[], target: Ref, most = Infinity, short = false): string {
  const roads = new Map<string, string[]>();
  for (const path of paths) {
    const road = short ? roadOf(path, target).replace(/^Gateway /, '') : roadOf(path, target);
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
  if (p.destination && !p.mesh && !p.dataplane && !p.gateway) return `${p.destination} (mesh${p.direction === 'consumer' ? ', consumer' : ''})`;
  const parts: string[] = [];
  const add = (word: string, value: string | undefined): void => {
    if (value) parts.push(word + value);
  };
  add('', p.direction);
  if (target.kind === 'Gateway' && fullName(target) === p.gateway) {
    add('GatewayClass ', p.gatewayClass);
  } else {
    if (p.gateway) add('Gateway ', p.gateway);
    else add('GatewayClass ', p.gatewayClass);
    if (fullName(target) !== p.listenerSet || !target.kind.endsWith('ListenerSet')) add('ListenerSet ', p.listenerSet);
  }
  p.delegatedFrom?.forEach((route, i) => add('delegated by ', [route, p.delegatedRules?.[i]].filter(Boolean).join(' ')));
  add('mesh ', p.mesh);
  add('dataplane ', p.dataplane);
  add('to ', p.destination);
  add('binding ', p.binding);
  return parts.join(' → ');
}

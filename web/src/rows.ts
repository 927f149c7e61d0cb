import { type Doc, once, shortKey } from './doc';
import type { ValueRef } from './pack';
import { flow, fullName, isRule, originText, sourceName, targetName } from './text';
import type { Effective, Loss, Path, Ref, Rule, RuleLoss } from './types';
import { via } from './via';

/** A row of the table: a rule of a route, or another target; with what every policy kind comes to there. */
export interface Row {
  target: Ref;
  items: Effective[]; // none where no policy is in force
  own: string; // what tells this row from others, in small letters
  shared: number[]; // numbers of texts that many rows have
}

/** What is asked for. An empty one is not asked. */
export interface Asked {
  text: string;
  kind: string;
  namespace: string;
  show: string; // "", "lost" or "bare"
  policy: string; // the id of the only policy that it is about
}

/**
 * Rows is the table of what is in force, and the search in it. Rows share most of their text, so a shared text is searched once for all rows
 * that have it.
 */
export class Rows {
  private readonly made: Row[] = [];
  private readonly texts: string[] = [''];
  private readonly known = new Map<ValueRef, number>();
  private readonly groups: ValueRef[][]; // what is in force, by target
  private readonly pairs: number;

  constructor(private readonly doc: Doc) {
    const { pack } = doc;
    const found = new Map<ValueRef | undefined, ValueRef[]>(); // equal values have equal numbers
    const pairs = new Set<string>();
    for (const ref of doc.effective) {
      const target = pack.field(ref, 'target');
      pairs.add(`${target} ${pack.field(ref, 'policyKind')}`);
      const same = found.get(target);
      if (same) same.push(ref);
      else found.set(target, [ref]);
    }
    this.groups = [...found.values()];
    this.pairs = pairs.size;
  }

  /** the rules of routes on which nothing is in force and nothing was overridden. */
  private readonly bare = once((): Ref[] => {
    const known = new Set(this.groups.map(([first]) => this.doc.pack.value<Ref>(this.doc.pack.field(first, 'target'))));
    return this.doc.bareRules().filter((ref) => !known.has(ref));
  });

  /** how many rows there are, without making them. */
  count(): number {
    return this.groups.length + this.bare().length;
  }

  /** filled is how many rows policies come to. */
  filled(): number {
    return this.groups.length;
  }

  /** rules is how many of the rows that policies come to are rules of routes. */
  readonly rules = once((): number => {
    const { pack } = this.doc;
    return this.groups.reduce((n, [first]) => {
      const target = pack.field(first, 'target');
      return n + (isRule({ kind: pack.text(pack.field(target, 'kind')), section: pack.text(pack.field(target, 'section')) }) ? 1 : 0);
    }, 0);
  });

  /** ruleCount is how many of all rows are rules of routes. */
  ruleCount(): number {
    return this.rules() + this.bare().length;
  }

  /** pairCount is how many pairs there are of a target and a policy kind that comes to it. */
  pairCount(): number {
    return this.pairs;
  }

  /** at is one row: first those that policies come to, then the rules of routes that have none. */
  at(i: number): Row {
    return (this.made[i] ??= i < this.groups.length ? this.row(this.groups[i]!) : bareRow(this.bare()[i - this.groups.length]!));
  }

  private warmed = 0;

  /** warm makes rows until the time is over, so that the first search has them. It reports whether there are more. */
  warm(until: number): boolean {
    const all = this.count();
    while (this.warmed < all && (this.warmed % 64 > 0 || performance.now() < until)) this.at(this.warmed++);
    return this.warmed < all;
  }

  private readonly all = once((): Row[] => Array.from({ length: this.count() }, (_, i) => this.at(i)));

  private row(refs: ValueRef[]): Row {
    const { pack } = this.doc;
    const items = refs.map((ref) => pack.value<Effective>(ref));
    const { target } = items[0]!;
    const shared = refs.flatMap((ref) => [
      this.text(pack.field(ref, 'paths'), (paths: Path[]) => via(paths, target)),
      this.text(pack.field(ref, 'rules'), (rules: Rule[]) => rules.map(ruleText).join(' ')),
      this.text(pack.field(ref, 'lost'), (lost: RuleLoss[]) => lost.map((l) => `${l.rule} ${sourceName(l)} ${originText(l.origin)} overridden`).join(' ')),
    ]);
    return { target, items, own: ownText(target, items.map((i) => i.policyKind)), shared: [...new Set(shared)] };
  }

  private text<T>(ref: ValueRef | undefined, write: (value: T) => string): number {
    if (ref === undefined) return 0;
    let at = this.known.get(ref);
    if (at === undefined) {
      at = this.texts.push(write(this.doc.pack.value<T>(ref)).toLowerCase()) - 1;
      this.known.set(ref, at);
    }
    return at;
  }

  /** find is the rows in which every word is, and which have the kind and the namespace that are asked for. Of a row only the asked kind is left. */
  find(asked: Asked): Row[] {
    let found = this.all();
    if (asked.policy) {
      const reached = this.doc.reachOf(asked.policy).byKey;
      found = found.filter((r) => reached.has(shortKey(r.target)));
    }
    if (asked.kind) found = found.filter((r) => r.items.some((i) => i.policyKind === asked.kind));
    if (asked.namespace) found = found.filter((r) => (r.target.namespace ?? '') === asked.namespace);
    for (const word of words(asked.text)) found = found.filter(this.matcher(word));
    if (asked.kind) found = found.map((r) => ({ ...r, items: r.items.filter((i) => i.policyKind === asked.kind) }));
    if (asked.show === 'lost') found = found.filter((r) => lostCount(r) > 0);
    if (asked.show === 'bare') found = found.filter((r) => r.items.every((i) => i.rules.length === 0));
    return found;
  }

  private matcher(word: string): (row: Row) => boolean {
    const [, field, rest] = /^(kind|ns):(.+)$/.exec(word) ?? [];
    if (field === 'kind') return (r) => r.items.some((i) => i.policyKind.toLowerCase().includes(rest!));
    if (field === 'ns') return (r) => (r.target.namespace ?? '').toLowerCase() === rest!;
    const hits: (boolean | undefined)[] = [];
    return (r) => r.own.includes(word) || r.shared.some((at) => (hits[at] ??= this.texts[at]!.includes(word)));
  }

  /** the namespaces and the policy kinds of all rows, sorted. No row is made for it. */
  readonly facets = once((): { kinds: string[]; namespaces: string[] } => {
    const { pack, effective } = this.doc;
    const kinds = new Set<string>();
    const namespaces = new Set(this.doc.bareRules().map((ref) => ref.namespace ?? ''));
    for (const ref of effective) {
      kinds.add(pack.text(pack.field(ref, 'policyKind')));
      namespaces.add(pack.text(pack.field(pack.field(ref, 'target'), 'namespace')));
    }
    return { kinds: [...kinds].sort(), namespaces: [...namespaces].filter(Boolean).sort() };
  });
}

function bareRow(target: Ref): Row {
  return { target, items: [], own: ownText(target, []) + ' no policy in force', shared: [] };
}

/** words are what a search asks for, in small letters. */
export function words(text: string): string[] {
  return text.toLowerCase().split(/\s+/).filter(Boolean);
}

function ownText(target: Ref, policyKinds: string[]): string {
  return `${targetName(target)} ${fullName(target)} ${[...new Set(policyKinds)].join(' ')}`.toLowerCase();
}

function ruleText(rule: Rule): string {
  const sources = rule.sources.map((s) => `${sourceName(s)} ${originText(s.origin)}`).join(' ');
  const losers = rule.lost.map((l) => `${sourceName(l)} ${originText(l.origin)} overridden`).join(' ');
  return `${rule.name} ${rule.summary ?? ''} ${flow(rule.value, 2000)} ${sources} ${losers}`;
}

/** isIdle is whether a setting did not lose to another one: its block does not apply. */
export function isIdle(loss: Loss): boolean {
  return loss.reason === 'ConditionFalse';
}

/** lostCount is how many settings were overridden on the way to a row. */
export function lostCount(row: Row): number {
  const lost = (all: Loss[]): number => all.reduce((n, l) => n + (isIdle(l) ? 0 : 1), 0);
  return row.items.reduce((sum, i) => sum + lost(i.lost) + i.rules.reduce((n, r) => n + lost(r.lost), 0), 0);
}

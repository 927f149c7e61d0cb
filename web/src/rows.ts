import { type Doc, once } from './doc';
import type { ValueRef } from './pack';
import { flow, fullName, kindName, originText, sourceName, targetName } from './text';
import type { Effective, Loss, Path, Ref, Rule, RuleLoss } from './types';
import { via } from './via';

/** A row of the table: one policy kind on one target, or a target on which nothing is in force. */
export interface Row {
  target: Ref;
  policyKind: string; // "" on a target on which nothing is in force
  item?: Effective;
  own: string; // what tells this row from others, in small letters
  shared: number[]; // numbers of texts that many rows have
}

/** What is asked for. An empty one is not asked. */
export interface Asked {
  text: string;
  kind: string;
  namespace: string;
  show: string; // "", "lost" or "bare"
}

/**
 * Rows is the table of what is in force, and the search in it. Rows share most of their text, so a shared text is searched once for all rows
 * that have it.
 */
export class Rows {
  private readonly made: Row[] = [];
  private readonly texts: string[] = [''];
  private readonly known = new Map<ValueRef, number>();

  constructor(private readonly doc: Doc) {}

  /** how many rows there are, without making them. */
  count(): number {
    return this.doc.effective.length + this.doc.bareRules().length;
  }

  /** filled is how many rows have something in force. */
  filled(): number {
    return this.doc.effective.length;
  }

  /** at is one row: first those where something is in force, then the route rules where nothing is. */
  at(i: number): Row {
    return (this.made[i] ??= i < this.doc.effective.length ? this.row(this.doc.effective[i]!) : bareRow(this.doc.bareRules()[i - this.doc.effective.length]!));
  }

  private warmed = 0;

  /** warm makes rows until the time is over, so that the first search has them. It reports whether there are more. */
  warm(until: number): boolean {
    const all = this.count();
    while (this.warmed < all && (this.warmed % 64 > 0 || performance.now() < until)) this.at(this.warmed++);
    return this.warmed < all;
  }

  private readonly all = once((): Row[] => Array.from({ length: this.count() }, (_, i) => this.at(i)));

  private row(ref: ValueRef): Row {
    const { pack } = this.doc;
    const item = pack.value<Effective>(ref);
    const shared = [
      this.text(pack.field(ref, 'paths'), (paths: Path[]) => via(paths, item.target)),
      this.text(pack.field(ref, 'rules'), (rules: Rule[]) => rules.map(ruleText).join(' ')),
      this.text(pack.field(ref, 'lost'), (lost: RuleLoss[]) => lost.map((l) => `${l.rule} ${sourceName(l)} ${originText(l.origin)} lost`).join(' ')),
    ];
    return { target: item.target, policyKind: item.policyKind, item, own: ownText(item.target, item.policyKind), shared };
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

  /** find is the rows in which every word is, and which have the kind and the namespace that are asked for. */
  find(asked: Asked): Row[] {
    let found = this.all();
    if (asked.kind) found = found.filter((r) => r.policyKind === asked.kind);
    if (asked.namespace) found = found.filter((r) => (r.target.namespace ?? '') === asked.namespace);
    if (asked.show === 'lost') found = found.filter((r) => r.item !== undefined && lostCount(r.item) > 0);
    if (asked.show === 'bare') found = found.filter((r) => !r.item || r.item.rules.length === 0);
    for (const word of words(asked.text)) found = found.filter(this.matcher(word));
    return found;
  }

  private matcher(word: string): (row: Row) => boolean {
    const [, field, rest] = /^(kind|ns):(.+)$/.exec(word) ?? [];
    if (field === 'kind') return (r) => r.policyKind.toLowerCase().includes(rest!);
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
  return { target, policyKind: '', own: ownText(target, '') + ' nothing in force', shared: [] };
}

/** words are what a search asks for, in small letters. */
export function words(text: string): string[] {
  return text.toLowerCase().split(/\s+/).filter(Boolean);
}

function ownText(target: Ref, policyKind: string): string {
  return `${targetName(target)} ${target.kind}/${fullName(target)} ${policyKind} ${kindName(policyKind)}`.toLowerCase();
}

function ruleText(rule: Rule): string {
  const sources = rule.sources.map((s) => `${sourceName(s)} ${originText(s.origin)}`).join(' ');
  const losers = rule.lost.map((l) => `${sourceName(l)} ${originText(l.origin)} lost`).join(' ');
  return `${rule.name} ${flow(rule.value, 2000)} ${sources} ${losers}`;
}

/** isIdle is whether a setting did not lose to another one: its block does not apply. */
export function isIdle(loss: Loss): boolean {
  return loss.reason === 'ConditionFalse';
}

/** lostCount is how many settings lost on the way to an item. */
export function lostCount(item: Effective): number {
  const lost = (all: Loss[]): number => all.reduce((n, l) => n + (isIdle(l) ? 0 : 1), 0);
  return lost(item.lost) + item.rules.reduce((n, r) => n + lost(r.lost), 0);
}

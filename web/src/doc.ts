import { Pack, type Packed, type ValueRef } from './pack';
import { groupKind, nodeID, sameObject, sameTarget } from './text';
import type { Compared, ProxyFacts } from './proxies';
import type { Effective, Finding, GraphEdge, GraphNode, Origin, Overridden, Problem, Ref, RuleClasses, RuleProtection, Status, Undecided } from './types';

/** Trouble is a problem or a finding, which are shown as one list. */
export interface Trouble extends Problem {
  suppressed?: { by: string; reason?: string };
}

/** A node of the topology with what it is joined to. */
export interface Joined {
  node: GraphNode;
  from: GraphEdge[]; // edges that end here
  to: GraphEdge[]; // edges that begin here
}

/** Doc is the report. What is large is read when it is asked for, and then kept. */
export class Doc {
  readonly pack: Pack;
  readonly title: string;
  readonly version: string;
  readonly inputs: string[];
  readonly scope: string[]; // what the question was narrowed to
  readonly complete: boolean;
  readonly redacted: boolean; // the values of settings were taken out
  readonly effective: ValueRef[];
  readonly overridden: ValueRef[];
  readonly statuses: ValueRef[];
  readonly audited: boolean; // dumps of proxies were given
  private readonly parts: (key: string) => ValueRef | undefined;

  constructor(packed: Packed) {
    this.pack = new Pack(packed);
    const { pack } = this;
    this.parts = (key) => pack.field(pack.root, key);
    this.title = pack.text(this.parts('title')) || 'Policies in force';
    this.version = pack.text(this.parts('version'));
    const scope = pack.value<{ namespace?: string; policyKinds?: string[] } | undefined>(this.parts('scope'));
    this.scope = [...(scope?.namespace ? [`namespace ${scope.namespace}`] : []), ...(scope?.policyKinds ?? [])];
    this.inputs = (pack.value<unknown[] | undefined>(this.parts('inputs')) ?? []).map(inputName);
    this.complete = pack.value<boolean | undefined>(this.parts('complete')) !== false;
    this.redacted = pack.value<boolean | undefined>(this.parts('redacted')) === true;
    this.effective = this.items('effective');
    this.overridden = this.items('overridden');
    this.statuses = this.items('status');
    this.audited = this.parts('dataplane') !== undefined;
  }

  private items(part: string): ValueRef[] {
    return this.pack.list(this.pack.field(this.parts(part), 'items'));
  }

  item(i: number): Effective {
    return this.pack.value(this.effective[i]);
  }

  loss(i: number): Overridden {
    return this.pack.value(this.overridden[i]);
  }

  status(i: number): Status {
    return this.pack.value(this.statuses[i]);
  }

  /** problems and findings, each once and the worst first: most findings are problems that some other part of the report has, too. */
  troubleRefs = once((): ValueRef[] => {
    const { pack } = this;
    const seen = new Set<string>();
    const found: { ref: ValueRef; rank: number }[] = [];
    const met = new Set<ValueRef>();
    const add = (ref: ValueRef): void => {
      if (met.has(ref)) return;
      met.add(ref);
      // equal values have equal numbers
      const key = [pack.field(ref, 'code') ?? pack.field(ref, 'id'), ...['message', 'ref', 'origin'].map((k) => pack.field(ref, k))].join();
      if (seen.has(key)) return;
      seen.add(key);
      const severity = ['error', 'warning', 'info'].indexOf(pack.text(pack.field(ref, 'severity')));
      found.push({ ref, rank: (pack.field(ref, 'suppressed') === undefined ? 0 : 10) + (severity < 0 ? 2 : severity) });
    };
    this.items('findings').forEach(add);
    const documents = [pack.root, ...['effective', 'overridden', 'status', 'findings', 'topology', 'dataplane'].map(this.parts)];
    for (const document of documents) pack.list(pack.field(document, 'problems')).forEach(add);
    return found.sort((a, b) => a.rank - b.rank).map(({ ref }) => ref);
  });

  troubles = once((): Trouble[] => this.troubleRefs().map((ref) => {
    const { id, ...rest } = this.pack.value<Finding & { code?: string }>(ref);
    return { ...rest, code: rest.code ?? id };
  }));

  /** how many problems that count have each severity. */
  troubleCounts = once((): Map<string, number> => {
    const counts = new Map<string, number>();
    for (const ref of this.troubleRefs()) {
      if (this.pack.field(ref, 'suppressed') !== undefined) continue;
      const severity = this.pack.text(this.pack.field(ref, 'severity'));
      counts.set(severity, (counts.get(severity) ?? 0) + 1);
    }
    return counts;
  });

  /** the problems because of which the report is not complete. */
  missing(): Trouble[] {
    return this.troubles().filter((t) => t.severity === 'error' || t.code === 'Forbidden' || (t.code === 'NotEvaluated' && t.severity === 'warning'));
  }

  /** what proxies do, held against what is predicted. */
  compared = once((): Compared[] => this.items('dataplane').map((ref) => this.pack.value<Compared>(ref)));

  private readonly comparedIndex = once(() => {
    const found = new Map<string, Compared[]>();
    for (const c of this.compared()) {
      if (!c.target) continue;
      const key = shortKey(c.target);
      found.set(key, [...(found.get(key) ?? []), c]);
    }
    return found;
  });

  comparedAt(target: Ref): Compared[] {
    return this.comparedIndex().get(shortKey(target)) ?? [];
  }

  private readonly classIndex = once(() => {
    const all = this.items('classes');
    return { all, at: index(all, (i) => shortKey(this.pack.value(this.pack.field(all[i], 'rule')))) };
  });

  /** the requests that rules of this kind and name take. */
  classesAt(rule: Ref): RuleClasses[] {
    const { all, at } = this.classIndex();
    return (at.get(shortKey(rule)) ?? []).map((i) => this.pack.value<RuleClasses>(all[i]));
  }

  /** what rules may take and the classes do not tell. */
  classesLack = once((): { undecided: Undecided[]; leftOut: string[] } => {
    const of = <T>(key: string): T[] => this.pack.value<T[] | undefined>(this.pack.field(this.parts('classes'), key)) ?? [];
    return { undecided: of<Undecided>('undecided'), leftOut: of<string>('leftOut') };
  });

  private readonly protectionIndex = once(() => {
    const all = this.items('protection');
    return { all, at: index(all, (i) => shortKey(this.pack.value(this.pack.field(all[i], 'rule')))) };
  });

  /** what requests to rules of this kind and name are protected by. */
  protectionAt(rule: Ref): RuleProtection[] {
    const { all, at } = this.protectionIndex();
    return (at.get(shortKey(rule)) ?? []).map((i) => this.pack.value<RuleProtection>(all[i]));
  }

  private audit<T>(key: string): T | undefined {
    return this.pack.value<T | undefined>(this.pack.field(this.parts('dataplane'), key));
  }

  /** the proxies whose dumps were read. */
  proxies = once((): ProxyFacts[] => {
    const one = this.audit<ProxyFacts>('proxy');
    return one ? [one] : (this.audit<ProxyFacts[]>('proxies') ?? []);
  });

  /** where proxies of one Gateway do not run with the same. */
  drift(): string[] {
    return (this.audit<{ message: string }[]>('drift') ?? []).map((d) => d.message);
  }

  troublesOf(ref: Ref): Trouble[] {
    return this.troubles().filter((t) => t.ref && sameObject(t.ref, ref) && (!t.ref.section || !ref.section || t.ref.section === ref.section));
  }

  private readonly statusIndex = once(() => index(this.statuses, (i) => objectKey(this.status(i).object)));

  /** the predicted status of an object, and of its listeners where it has any. */
  statusOf(ref: Ref): Status[] {
    const all = (this.statusIndex().get(objectKey(ref)) ?? []).map((i) => this.status(i));
    return ref.section ? all.filter((s) => s.object.section === ref.section) : all.filter((s) => !s.object.section);
  }

  private readonly targetIndex = once(() => index(this.effective, (i) => shortKey(this.pack.value(this.pack.field(this.effective[i], 'target')))));

  /** what is in force on targets of this kind and name, of whatever group. */
  itemsAt(ref: Pick<Ref, 'kind' | 'namespace' | 'name' | 'section'>): Effective[] {
    return (this.targetIndex().get(shortKey(ref)) ?? []).map((i) => this.item(i));
  }

  // The picture may be drawn from a smaller topology than the document has; its nodes are known, too.
  private readonly graphs = ['topology', 'picture'] as const;

  private readonly byID = once(() => {
    const nodes = new Map<string, ValueRef>();
    for (const part of this.graphs) {
      for (const ref of this.pack.list(this.pack.field(this.parts(part), 'nodes'))) {
        const id = this.pack.text(this.pack.field(ref, 'id'));
        if (!nodes.has(id)) nodes.set(id, ref);
      }
    }
    return nodes;
  });

  private graphNode(id: string): GraphNode | undefined {
    return this.pack.value(this.byID().get(id));
  }

  private readonly edges = once(() => {
    const from = new Map<string, GraphEdge[]>();
    const to = new Map<string, GraphEdge[]>();
    const put = (map: Map<string, GraphEdge[]>, id: string, edge: GraphEdge): void => {
      const list = map.get(id);
      if (!list) map.set(id, [edge]);
      else list.push(edge);
    };
    for (const part of this.graphs) {
      // an edge of the smaller picture is news only at an end that the topology does not have
      const told = new Set([...from.keys(), ...to.keys()]);
      for (const ref of this.pack.list(this.pack.field(this.parts(part), 'edges'))) {
        const edge = this.pack.value<GraphEdge>(ref);
        if (!told.has(edge.from)) put(from, edge.from, edge);
        if (!told.has(edge.to)) put(to, edge.to, edge);
      }
    }
    return { from, to };
  });

  /** node is a node with its edges. */
  node(id: string): Joined | undefined {
    const node = this.graphNode(id);
    return node && { node, from: this.edges().to.get(id) ?? [], to: this.edges().from.get(id) ?? [] };
  }

  hasNode(id: string): boolean {
    return this.byID().has(id);
  }

  /** nodeRef is what a node stands for. */
  nodeRef(id: string): Ref | undefined {
    return this.graphNode(id)?.ref;
  }

  private readonly ruleIndex = once(() => {
    const found = new Map<string, Ref[]>();
    for (const id of this.byID().keys()) {
      const { ref, members } = this.graphNode(id)!;
      const key = shortKey(ref);
      if (!members) found.set(key, [...(found.get(key) ?? []), ref]);
    }
    return found;
  });

  /** targets are the objects and sections of this kind and name, of whatever group, that the topology has. */
  targets(ref: Pick<Ref, 'kind' | 'namespace' | 'name' | 'section'>): Ref[] {
    return this.ruleIndex().get(shortKey(ref)) ?? [];
  }

  /** the rules of routes that traffic can come to and on which no policy is in force. */
  bareRules = once((): Ref[] => this.pack.value<Ref[] | undefined>(this.parts('bare')) ?? []);

  private readonly bareKeys = once(() => new Set(this.bareRules().map(shortKey)));

  /** isBare is whether a rule of a route is one of these. Others without a result get no traffic, or hand over to other routes. */
  isBare(ref: Ref): boolean {
    return this.bareKeys().has(shortKey(ref));
  }

  private readonly fateIndex = once(() => new Map(this.policies().map((f) => [nodeID(f.policy), f])));

  /** isPartly is whether a policy is in force on some of its targets, or with some of its settings, but not with all on all. */
  isPartly(policy: Ref): boolean {
    return this.fateIndex().get(nodeID(policy))?.state === 'partial';
  }

  /** what became of every policy of the topology, in its order. */
  policies = once((): Fate[] => {
    const fates = new Map<string, Fate>();
    for (const [id, ref] of this.byID()) {
      if (this.pack.text(this.pack.field(ref, 'kind')) !== 'policy') continue;
      const node = this.graphNode(id)!;
      if (!node.members) fates.set(id, { policy: node.ref, state: 'unknown', effective: 0, partial: 0, overridden: 0, idle: 0, dangling: 0 });
    }
    const { pack } = this;
    for (const edge of pack.list(pack.field(this.parts('topology'), 'edges'))) {
      const fate = fates.get(pack.text(pack.field(edge, 'from')));
      if (!fate) continue;
      const kind = pack.text(pack.field(edge, 'kind'));
      const state = pack.text(pack.field(edge, 'state'));
      const weight = pack.value<number | undefined>(pack.field(edge, 'count')) ?? 1;
      if (kind === 'effective') fate[state === 'partial' ? 'partial' : 'effective'] += weight;
      else if (kind === 'overridden') fate.overridden += weight;
      else if (kind === 'conditionFalse') fate.idle += weight;
      else if (kind === 'targets' && state === 'dangling') fate.dangling++;
    }
    for (const t of this.troubles()) {
      const fate = t.code === 'TargetNotFound' && t.ref ? fates.get(nodeID(t.ref)) : undefined;
      if (fate && fate.dangling === 0) fate.dangling = 1;
    }
    for (const fate of fates.values()) fate.state = stateOf(fate);
    return [...fates.values()];
  });

  /** what becomes of a policy at every target that it applies to. */
  reachOf(policy: string): Reached {
    let found = this.reaches.get(policy);
    if (!found) {
      found = { byNode: new Map(), byKey: new Map() };
      for (const edge of this.edges().from.get(policy) ?? []) {
        const state = edge.kind === 'effective' ? (edge.state === 'partial' ? 'partial' : 'effective') : ({ overridden: 'overridden', conditionFalse: 'idle' } as const)[edge.kind];
        const target = state && this.nodeRef(edge.to);
        if (!state || !target) continue;
        const known = found.byNode.get(edge.to);
        const reach = { target, state: known && known.state !== state ? 'partial' : state } as const;
        found.byNode.set(edge.to, reach);
        found.byKey.set(shortKey(target), reach);
      }
      this.reaches.set(policy, found);
    }
    return found;
  }

  private readonly reaches = new Map<string, Reached>();

  private readonly drawnIndex = once(() => {
    const found = new Map<string, string>();
    for (const ref of this.pack.list(this.pack.field(this.parts('picture'), 'nodes'))) {
      if (this.pack.field(ref, 'members') === undefined) continue;
      const { id, members } = this.pack.value<GraphNode>(ref);
      for (const m of members!) found.set(nodeID(m), id);
    }
    return found;
  });

  /** drawnAs is the id of the node that a smaller picture draws for an object and others that look alike. */
  drawnAs(ref: Ref): string | undefined {
    const { section: _, ...whole } = ref;
    return this.drawnIndex().get(nodeID(ref)) ?? this.drawnIndex().get(nodeID(whole));
  }

  /** where a policy is written, as far as something in force or lost tells. */
  originOf(policy: Ref, targets: Ref[]): Origin | undefined {
    for (const target of targets.slice(0, 20)) {
      for (const item of this.itemsAt(target)) {
        const use = item.policies.find((u) => u.policy && sameObject(u.policy, policy));
        if (use?.origin) return use.origin;
      }
    }
    return this.troubles().find((t) => t.ref && sameTarget(t.ref, policy))?.origin;
  }
}

/** What became of a policy: on how many effective targets it is in force, partly in force, overridden; and how many of its targets are missing. */
export interface Fate {
  policy: Ref;
  state: 'effective' | 'partial' | 'overridden' | 'idle' | 'dangling' | 'unknown';
  effective: number;
  partial: number;
  overridden: number;
  idle: number; // where its condition is false
  dangling: number;
}

/** What becomes of a policy at one target. */
export interface Reach {
  target: Ref;
  state: 'effective' | 'partial' | 'overridden' | 'idle';
}

/** What becomes of a policy at all targets that it applies to: by the id of a node, and by shortKey. */
export interface Reached {
  byNode: Map<string, Reach>;
  byKey: Map<string, Reach>;
}

function stateOf(f: Fate): Fate['state'] {
  if (f.effective + f.partial > 0) return f.partial + f.overridden + f.idle > 0 ? 'partial' : 'effective';
  if (f.overridden > 0) return 'overridden';
  if (f.idle > 0) return 'idle';
  return f.dangling > 0 ? 'dangling' : 'unknown';
}

function inputName(input: unknown): string {
  if (typeof input === 'string') return input;
  const { kind, name } = input as { kind?: string; name?: string };
  return kind === undefined || kind === 'path' ? (name ?? '') : [kind === 'stdin' ? 'standard input' : kind, name].filter(Boolean).join(' ');
}

function objectKey(ref: Ref): string {
  return `${groupKind(ref)}\n${ref.namespace ?? ''}\n${ref.name}`;
}

/** shortKey tells objects and their sections apart, whatever their group and however their kind is spelled. */
export function shortKey(ref: Pick<Ref, 'kind' | 'namespace' | 'name' | 'section'>): string {
  return `${ref.kind.toLowerCase()}\n${ref.namespace ?? ''}\n${ref.name}\n${ref.section ?? ''}`;
}

function index(items: ValueRef[], key: (i: number) => string): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (let i = 0; i < items.length; i++) {
    const k = key(i);
    const same = found.get(k);
    if (same) same.push(i);
    else found.set(k, [i]);
  }
  return found;
}

/** once is a function that keeps its result. */
export function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

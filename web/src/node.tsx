import type { JSX } from 'preact';
import { usePage } from './context';
import type { Joined } from './doc';
import { Copy, NodeLink, Place, Some, State, TargetLink, Value, broken, graphState } from './parts';
import { TroubleList } from './problems';
import { nodeLink, ruleLink, viewLink } from './route';
import { StatusBody } from './status';
import { isIdle } from './rows';
import { counted, fullName, grouped, isRule, kindName, objectName, sourceName, targetName } from './text';
import type { Effective, GraphEdge, Ref } from './types';
import { via } from './via';

const ROLES: Record<string, string> = {
  gatewayClass: 'class', gateway: 'Gateway', listener: 'listener', listenerSet: 'listener set', route: 'route', rule: 'rule of a route', backend: 'backend',
};

/** What is known about one node of the picture. */
export function NodePanel({ id }: { id: string }): JSX.Element {
  const { doc } = usePage();
  const joined = doc.node(id);
  if (!joined) {
    return (
      <aside class="panel" aria-labelledby="panel">
        <Close />
        <h2 id="panel" tabIndex={-1}>Not in this report</h2>
        <p>This report has no <span class="name">{id}</span>.</p>
        <p><a href={viewLink('rules', { q: nameIn(id) })}>Search the rules for “{nameIn(id)}”</a></p>
      </aside>
    );
  }
  const { node } = joined;
  const role = Object.hasOwn(ROLES, node.kind) ? ROLES[node.kind]! : node.kind;
  return (
    <aside class="panel" aria-labelledby="panel">
      <Close />
      <h2 id="panel" tabIndex={-1}><span class="name">{broken(title(joined))}</span></h2>
      <p class="facts"><span class="dim">{[role, node.labels['state'], node.labels['hostnames']].filter(Boolean).join(' · ')}</span><Copy label="Copy link" text={() => location.href} /></p>
      {node.members ? <Members of={joined} /> : node.kind === 'policy' ? <Policy of={joined} /> : <Target of={joined} />}
      <Predicted of={node.ref} />
      <Troubles of={node.ref} />
    </aside>
  );
}

function nameIn(id: string): string {
  return (id.split('/').at(-1) ?? '').split('#')[0]!.toLowerCase();
}

function title({ node }: Joined): string {
  if (!node.members) return targetName(node.ref);
  return node.ref.name ? objectName(node.ref) : [node.ref.kind, node.ref.namespace && `namespace ${node.ref.namespace}`, counted(node.members.length, 'object')].filter(Boolean).join(' · ');
}

function Close(): JSX.Element {
  return <a class="close" href="#/" aria-label="Close, back to the overview">×</a>;
}

/** stateWords is how many policies are in which state, which the document has as "2 effective, 1 partial". */
function stateWords(label: string): string {
  return label.replace(/\beffective\b/g, 'in force').replace(/\bpartial\b/g, 'partly in force');
}

/** Objects that a smaller picture draws as one. */
function Members({ of: { node, from, to } }: { of: Joined }): JSX.Element {
  const labels = Object.entries(node.labels).filter(([key]) => key !== 'state' && key !== 'hostnames');
  return (
    <>
      <p>Drawn as one{labels.length > 0 && `: ${labels.map(([key, value]) => `${key}: ${key === 'policies' ? stateWords(value) : value}`).join(' · ')}`}</p>
      <h3>{counted(node.members!.length, 'member')}</h3>
      <Some of={node.members!} most={20} noun="member" each={(ref) => <NodeLink of={ref} />} />
      <Attached edges={from.filter((e) => e.kind === 'targets')} />
      <Edges title="In force here" edges={from.filter((e) => e.kind === 'effective')} end="from" />
      <Edges title="Overridden here" edges={from.filter((e) => e.kind === 'overridden')} end="from" />
      <Edges title="Condition false here" edges={from.filter((e) => e.kind === 'conditionFalse')} end="from" />
      <Edges title="Leads to" edges={to.filter((e) => e.kind === 'parent')} end="to" />
    </>
  );
}

/** A policy: what it targets, and what became of it. */
function Policy({ of: { node, to } }: { of: Joined }): JSX.Element {
  const { doc } = usePage();
  const edges = (kind: string, partial?: boolean): GraphEdge[] => to.filter((e) => e.kind === kind && (partial === undefined || (e.state === 'partial') === partial));
  const reached = to.filter((e) => e.kind !== 'targets').map((e) => doc.nodeRef(e.to)).filter((r) => r !== undefined);
  const origin = doc.originOf(node.ref, reached);
  const targets = edges('targets');
  return (
    <>
      {origin && <p><Place origin={origin} /></p>}
      <h3>Targets</h3>
      {targets.length === 0 && <p><State of="dangling" word="not in the input" /></p>}
      <Some of={targets} noun="target" each={(e) => <><Named id={e.to} /> {e.state && <State of={graphState(e.state)} />}<Otherwise edge={e} /></>} />
      <Edges title="In force" edges={edges('effective', false)} end="to" state="effective" />
      <Edges title="Partly in force" edges={edges('effective', true)} end="to" state="partial" />
      <Edges title="Overridden" edges={edges('overridden')} end="to" state="overridden" />
      <Edges title="Condition false" edges={edges('conditionFalse')} end="to" state="idle" />
      {reached.length > 0 && <p><a href={viewLink('rules', { policy: node.id })}>Show these in the table of rules</a> · <a href={viewLink('overridden', { q: targetName(node.ref) })}>Its overridden settings</a></p>}
    </>
  );
}

/** A target: what is in force there or, of what holds several, the policies that are attached and the rules below. */
function Target({ of: joined }: { of: Joined }): JSX.Element {
  const { doc } = usePage();
  const { node, from, to } = joined;
  const items = doc.itemsAt(node.ref);
  const parents = from.filter((e) => e.kind === 'parent');
  const children = to.filter((e) => e.kind === 'parent');
  const rules = node.kind === 'rule' ? [] : below(node.id, doc);
  return (
    <>
      {items.length > 0 && <InForce items={items} />}
      {doc.isBare(node.ref) && <p><State of="bare" /></p>}
      <Attached edges={from.filter((e) => e.kind === 'targets')} />
      {rules.length > 0 && (
        <>
          <h3>{counted(rules.length, 'rule')} below</h3>
          <Some of={rules} noun="rule" each={(ref) => <><TargetLink target={ref} /> <span class="dim">{doc.isBare(ref) ? '◌ no policy in force' : kindsAt(doc.itemsAt(ref))}</span></>} />
        </>
      )}
      <Edges title="Reached from" edges={parents} end="from" />
      <Edges title="Leads to" edges={children} end="to" />
    </>
  );
}

function kindsAt(items: Effective[]): string {
  return [...new Set(items.map((i) => kindName(i.policyKind)))].join(', ');
}

function InForce({ items }: { items: Effective[] }): JSX.Element {
  const target = items[0]!.target;
  const roads = new Set(items.map((i) => i.paths));
  return (
    <>
      <p><a href={ruleLink(target)}>Everything that is in force here</a></p>
      {roads.size === 1 && <p class="dim">via {via(items[0]!.paths, target)}</p>}
      {items.map((item, i) => (
        <section key={i}>
          <h3>{kindName(item.policyKind)} {roads.size > 1 && <span class="via">via {via(item.paths, item.target)}</span>}</h3>
          <ul class="plain inforce">
            {item.rules.length === 0 && <li><State of="bare" word="nothing in force" /></li>}
            {item.rules.map((r, j) => (
              <li key={j}>
                <span class="state effective"><span aria-hidden="true">●</span><span class="offscreen">in force:</span></span> <span class="name">{r.name}</span> <Value of={r.value} summary={r.summary} />
                <div class="dim">{r.sources.map((s, k) => <>{k > 0 && ' + '}{s.policy ? <NodeLink of={s.policy} text={kindName(item.policyKind) === s.policy.kind ? fullName(s.policy) : targetName(s.policy)} /> : sourceName(s)} <Place origin={s.origin} /></>)} · {r.why}</div>
              </li>
            ))}
            {[...item.rules.flatMap((r) => r.lost.map((l) => ({ rule: r.name, l }))), ...item.lost.map((l) => ({ rule: l.rule, l }))].map(({ rule, l }, j) => (
              <li key={`lost${j}`}>
                {isIdle(l) ? <State of="idle" word="condition false:" /> : <State of="overridden" word="overridden:" />} <span class="name">{rule}</span>
                <div class="dim">{l.policy ? <NodeLink of={l.policy} text={kindName(item.policyKind) === l.policy.kind ? fullName(l.policy) : targetName(l.policy)} /> : sourceName(l)} · {l.message}</div>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}

function Attached({ edges }: { edges: GraphEdge[] }): JSX.Element | null {
  if (edges.length === 0) return null;
  return (
    <>
      <h3>Policies attached here</h3>
      <Some of={edges} noun="policy" each={(e) => <><Named id={e.from} /> {e.state && <State of={graphState(e.state)} />}<Otherwise edge={e} /></>} />
    </>
  );
}

function Edges({ title, edges, end, state }: { title: string; edges: GraphEdge[]; end: 'from' | 'to'; state?: string }): JSX.Element | null {
  const { doc } = usePage();
  const total = edges.reduce((n, e) => n + (e.count ?? 1), 0);
  const ends = edges.map((e) => doc.nodeRef(e[end]));
  if (edges.length === 0) return null;
  const noun = state && ends.every((r) => r && isRule(r)) ? 'rule' : undefined;
  return (
    <>
      <h3>{state ? <State of={state} word={title.toLowerCase()} /> : title} <span class="dim">{noun ? `on ${counted(total, noun)}` : grouped(total)}</span></h3>
      <Some of={edges} noun="object" each={(e) => <><Named id={e[end]} />{e.count && e.count > 1 ? <span class="dim"> × {e.count}</span> : ''}{e.by && e.by.length > 0 && <By ids={e.by} />}<Otherwise edge={e} /></>} />
    </>
  );
}

function Otherwise({ edge }: { edge: GraphEdge }): JSX.Element | null {
  return edge.proxy ? <span class="state overridden"> <span aria-hidden="true">≠</span> a proxy does otherwise</span> : null;
}

function By({ ids }: { ids: string[] }): JSX.Element {
  return <span class="dim"> by {ids.map((id, i) => <>{i > 0 && ', '}<Named id={id} /></>)}</span>;
}

function Named({ id }: { id: string }): JSX.Element {
  const { doc } = usePage();
  const node = doc.node(id)?.node;
  if (!node) return <span class="name">{id}</span>;
  const text = node.members ? title({ node, from: [], to: [] }) : targetName(node.ref);
  return <><a class="name" href={nodeLink(id)}>{text}</a>{node.labels['state'] && <> <State of="dangling" word={node.labels['state']} /></>}</>;
}

/** below is the route rules that traffic through a node can reach. */
function below(id: string, doc: ReturnType<typeof usePage>['doc']): Ref[] {
  const found: Ref[] = [];
  const seen = new Set([id]);
  for (const at of seen) {
    const joined = doc.node(at);
    if (!joined || joined.node.kind === 'policy') continue;
    if (joined.node.kind === 'rule' && at !== id) found.push(joined.node.ref);
    for (const e of joined.to) if (e.kind === 'parent') seen.add(e.to);
  }
  return found;
}

function Predicted({ of }: { of: Ref }): JSX.Element | null {
  const { doc } = usePage();
  const all = doc.statusOf(of);
  if (all.length === 0) return null;
  return <><h3>Predicted status</h3>{all.map((s, i) => <StatusBody key={i} of={s} />)}</>;
}

function Troubles({ of }: { of: Ref }): JSX.Element | null {
  const { doc } = usePage();
  const all = doc.troublesOf(of);
  if (all.length === 0 || !of.name) return null;
  return <><h3>Problems</h3><TroubleList all={all} /></>;
}

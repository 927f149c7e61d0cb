import type { JSX } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { go, usePage } from './context';
import { type Doc, type Reach, shortKey } from './doc';
import { Choice, From, Heading, Name, NodeLink, Pager, Search, State, broken, usePages } from './parts';
import { ProtectionCell, protectionText } from './protection';
import { ProxyCell, differs, proxyRank } from './proxies';
import { nodeLink, ruleLink, viewLink } from './route';
import { type Row, isIdle, lostCount } from './rows';
import { type Column, Head, SortChoice, sorted } from './sort';
import { counted, flow, grouped, kindName, nodeID, sourceName, targetName } from './text';
import type { Effective, Loss, Rule, Source } from './types';
import { via } from './via';

/** The table of what is in force: a row for each rule of a route, and for other targets of policies. */
export function RulesView(): JSX.Element {
  const { doc, rows, route, late, say } = usePage();
  const { query } = route;
  const asked = { text: query.get('q') ?? '', kind: query.get('kind') ?? '', namespace: query.get('ns') ?? '', show: query.get('show') ?? '', policy: query.get('policy') ?? '' };
  const plain = !asked.text && !asked.kind && !asked.namespace && !asked.show && !asked.policy;
  const columns = useMemo(() => columnsOf(doc, asked.policy), [doc, asked.policy]);
  const sort = query.get('sort') ?? '';
  const found = useMemo(
    () => (plain && !sort ? undefined : sorted(proxied(doc, rows.find(asked), asked.show), sort, columns)),
    [rows, asked.text, asked.kind, asked.namespace, asked.show, asked.policy, sort],
  );
  const total = late || found ? rows.count() : rows.filled();
  const count = found?.length ?? total;
  const { from, to } = usePages(count, Number(query.get('page') ?? 1) || 1);
  const change = (by: Record<string, string>): void => go(viewLink('rules', { q: asked.text, kind: asked.kind, ns: asked.namespace, show: asked.show, policy: asked.policy, sort, ...by }), true);
  const others = total - (late || found ? rows.ruleCount() : rows.rules());
  const of = others === 0 ? counted(total, 'rule') : `${counted(total - others, 'rule')} and ${counted(others, 'other target')}`;
  useEffect(() => {
    if (!plain) say(`${counted(count, 'row')} found`);
  }, [count, plain]);
  const shown = Array.from({ length: to - from }, (_, i) => found?.[from + i] ?? rows.at(from + i));
  return (
    <>
      <Heading>Rules</Heading>
      <Filters asked={asked} sort={sort} change={change} />
      {asked.policy && <Chosen policy={asked.policy} all={() => change({ policy: '' })} />}
      <p class="count">
        {plain ? of : `${grouped(count)} of ${of}`}
        {count === 0 && <> · <button type="button" class="more" onClick={() => go(viewLink('rules'))}>show all</button></>}
      </p>
      <div class="scroll" role="region" aria-label="What is in force" tabIndex={0}>
        <table class="rules" aria-rowcount={count + 1}>
          <caption class="offscreen">What is in force on each rule</caption>
          <Head columns={columns} sort={sort} change={(by) => change({ sort: by })} rowindex />
          <tbody>{shown.map((row, i) => <Line key={from + i} row={row} at={from + i} policy={asked.policy} />)}</tbody>
        </table>
      </div>
      <Pager count={count} from={from} to={to} turn={(page) => { change({ page: String(page) }); document.getElementById('heading')?.scrollIntoView(); }} />
    </>
  );
}

/** The policy that was chosen, and on how many targets it is in force. */
function Chosen({ policy, all }: { policy: string; all: () => void }): JSX.Element {
  const { doc } = usePage();
  const ref = doc.nodeRef(policy);
  const states = [...doc.reachOf(policy).byNode.values()].map((r) => r.state);
  const counts = STATES.map((state) => [state, states.filter((s) => s === state).length] as const).filter(([, n]) => n > 0);
  return (
    <p class="chosen-policy">
      <a class="name" href={nodeLink(policy)}>{ref ? targetName(ref) : policy}</a>{' '}
      {counts.map(([state, n]) => <span key={state} class="share"><State of={state} /> {grouped(n)} </span>)}
      {counts.length === 0 && <State of="unknown" />}
      <button type="button" onClick={all}>Show all rules</button>
    </p>
  );
}

const STATES: Reach['state'][] = ['effective', 'partial', 'overridden', 'idle'];

/** Of the rows those on which a proxy does otherwise, if that is asked for. */
function proxied(doc: Doc, rows: Row[], show: string): Row[] {
  if (show !== 'proxy') return rows;
  return rows.filter((r) => doc.comparedAt(r.target).some((c) => differs(c) && (!c.policyKind || r.items.some((i) => i.policyKind === c.policyKind))));
}

/** The columns, with what the rows are sorted by. What became of a chosen policy stands in one of its own, and so does what proxies do. */
function columnsOf(doc: Doc, policy: string): Column<Row>[] {
  const stateOf = (r: Row): number => STATES.indexOf(doc.reachOf(policy).byKey.get(shortKey(r.target))?.state ?? 'idle');
  return [
    { id: 'rule', text: 'Rule', key: (r) => targetName(r.target) },
    ...(policy ? [{ id: 'state', text: 'This policy is', key: stateOf }] : []),
    { id: 'inforce', text: 'Settings in force ← from', key: (r) => r.items.flatMap((i) => [kindName(i.policyKind), ...i.rules.map((rule) => `${rule.name} ${short(rule)} ${rule.sources.map(sourceName).join(' ')}`)]).join(' ') },
    { id: 'protection', text: 'Requests are protected by', key: (r) => protectionText(doc, r.target) },
    { id: 'lost', text: 'Overridden', key: lostCount },
    ...(doc.audited ? [{ id: 'proxy', text: 'Proxy', key: (r: Row) => Math.min(...r.items.map((i) => proxyRank(doc, r.target, i.policyKind))) }] : []),
  ];
}

/** short is a value in a few words. */
function short(of: Rule | Loss): string {
  return of.summary ?? flow(of.value, 40);
}

function Filters({ asked, sort, change }: { asked: { text: string; kind: string; namespace: string; show: string; policy: string }; sort: string; change: (by: Record<string, string>) => void }): JSX.Element {
  const { doc, rows, late } = usePage();
  const { kinds, namespaces } = late ? rows.facets() : { kinds: [], namespaces: [] };
  const names = kinds.map(kindName);
  const kindText = (k: string, i: number): string => (names.indexOf(names[i]!) === names.lastIndexOf(names[i]!) ? names[i]! : k);
  return (
    <search class="filters">
      <Search label="Search" hint="names, settings, values, policies, files" value={asked.text} change={(q) => change({ q })} />
      <Choice label="Policy kind" value={asked.kind} all={[['', 'all'], ...kinds.map((k, i): [string, string] => [k, kindText(k, i)])]} change={(kind) => change({ kind })} />
      <Choice label="Namespace" value={asked.namespace} all={[['', 'all'], ...namespaces.map((n): [string, string] => [n, n])]} change={(ns) => change({ ns })} />
      <Choice label="Show" value={asked.show} all={[['', 'everything'], ['lost', 'with overridden settings'], ['bare', 'with no policy in force'], ...(doc.audited ? [['proxy', 'where a proxy does otherwise'] as [string, string]] : [])]} change={(show) => change({ show })} />
      <SortChoice columns={columnsOf(doc, asked.policy)} sort={sort} change={(by) => change({ sort: by })} />
    </search>
  );
}

function Line({ row, at, policy }: { row: Row; at: number; policy: string }): JSX.Element {
  const { doc } = usePage();
  const { target, items } = row;
  const open = (e: MouseEvent): void => {
    if (!(e.target as Element).closest('a, button') && !getSelection()?.toString()) go(ruleLink(target));
  };
  const roads = new Set(items.map((i) => i.paths));
  const state = policy ? doc.reachOf(policy).byKey.get(shortKey(target))?.state : undefined;
  return (
    <tr aria-rowindex={at + 2} class={`opens${state ? ` lit-${state}` : ''}`} onClick={open}>
      <th scope="row">
        <a class="name" href={ruleLink(target)}>{broken(targetName(target))}</a>
        {roads.size === 1 && <div class="via">via <span class="name">{via(items[0]!.paths, target, 3, true)}</span></div>}
      </th>
      {policy && <td>{state && <State of={state} />}</td>}
      <td class="set">{items.length === 0 ? <State of="bare" /> : items.map((item, i) => <Item key={i} item={item} apart={roads.size > 1} policy={policy} />)}</td>
      <td><ProtectionCell rule={target} /></td>
      <td><Lost n={lostCount(row)} unread={items.some((i) => i.unread !== undefined)} /></td>
      {doc.audited && <td>{items.map((i, n) => <div key={n}>{items.length > 1 && <span class="dim">{kindName(i.policyKind)}: </span>}<ProxyCell target={target} policyKind={i.policyKind} /></div>)}</td>}
    </tr>
  );
}

const SETTINGS = 6;

/** What is in force of one policy kind. Of a chosen policy, what was overridden stands there as well. */
function Item({ item, apart, policy }: { item: Effective; apart: boolean; policy: string }): JSX.Element {
  const mine = (s: Source): boolean => policy !== '' && s.policy !== undefined && nodeID(s.policy) === policy;
  const { rules, policyKind, ordered } = item;
  const lost = [...rules.flatMap((r) => r.lost.map((loss) => ({ name: r.name, loss }))), ...item.lost.map((loss) => ({ name: loss.rule, loss }))].filter(({ loss }) => mine(loss));
  return (
    <div class="item">
      <div class="dim">{kindName(policyKind)}{apart && <> via <span class="name">{via(item.paths, item.target, 3, true)}</span></>}</div>
      <ul class="plain inforce">
        {rules.length === 0 && <li><State of="bare" word="nothing in force" /></li>}
        {rules.slice(0, SETTINGS).map((r, i) => (
          <li key={i} class={r.sources.some(mine) ? 'mine' : undefined}>
            <span class="state effective"><span aria-hidden="true">●</span></span> <Name of={(ordered ? `${i + 1}. ` : '') + r.name} />{' '}
            <code class="value">{short(r)}</code>
            <span class="dim"> ← </span>{r.sources.map((s, j) => <>{j > 0 && ' + '}<From key={j} source={s} policyKind={policyKind} /></>)}
          </li>
        ))}
        {rules.length > SETTINGS && <li class="dim">and {rules.length - SETTINGS} more</li>}
        {lost.map(({ name, loss }, i) => (
          <li key={`lost ${i}`} class="mine">
            <State of={isIdle(loss) ? 'idle' : 'overridden'} word={isIdle(loss) ? 'condition false:' : 'overridden:'} /> <Name of={name} /> <code class="value">{short(loss)}</code>
            {loss.lostTo.length > 0 && <span class="dim"> by {loss.lostTo.map((s, j) => <>{j > 0 && ', '}{s.policy ? <NodeLink of={s.policy} /> : sourceName(s)}</>)}</span>}
          </li>
        ))}
      </ul>
    </div>
  );
}

function Lost({ n, unread }: { n: number; unread: boolean }): JSX.Element {
  return <>{n > 0 && <State of="overridden" word={`${grouped(n)} overridden`} />}{unread && <span class="severity warning" title="what could not be read may change this"> ? unsure</span>}</>;
}

import type { JSX } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { brief } from './brief';
import { go, usePage } from './context';
import type { Doc } from './doc';
import { Choice, From, Heading, Name, Pager, Search, State, broken, usePages } from './parts';
import { ProtectionCell, protectionText } from './protection';
import { ProxyCell, differs, proxyRank } from './proxies';
import { ruleLink, viewLink } from './route';
import { type Row, lostCount } from './rows';
import { type Column, Head, SortChoice, sorted } from './sort';
import { counted, grouped, kindName, sourceName, targetName } from './text';
import type { Rule } from './types';
import { via } from './via';

/** The table of what is in force: a row for each policy kind on each target. */
export function RulesView(): JSX.Element {
  const { doc, rows, route, late, say } = usePage();
  const { query } = route;
  const columns = useMemo(() => columnsOf(doc), [doc]);
  const asked = { text: query.get('q') ?? '', kind: query.get('kind') ?? '', namespace: query.get('ns') ?? '', show: query.get('show') ?? '' };
  const plain = !asked.text && !asked.kind && !asked.namespace && !asked.show;
  const sort = query.get('sort') ?? '';
  const found = useMemo(() => (plain && !sort ? undefined : sorted(proxied(doc, rows.find(asked), asked.show), sort, columns)), [rows, asked.text, asked.kind, asked.namespace, asked.show, sort]);
  const total = late || found ? rows.count() : rows.filled();
  const count = found?.length ?? total;
  const { from, to } = usePages(count, Number(query.get('page') ?? 1) || 1);
  const change = (by: Record<string, string>): void => go(viewLink('rules', { q: asked.text, kind: asked.kind, ns: asked.namespace, show: asked.show, sort, ...by }), true);
  useEffect(() => {
    if (!plain) say(`${counted(count, 'row')} found`);
  }, [count, plain]);
  const shown = Array.from({ length: to - from }, (_, i) => found?.[from + i] ?? rows.at(from + i));
  return (
    <>
      <Heading>Rules</Heading>
      <Filters asked={asked} sort={sort} change={change} />
      <p class="count">
        {plain ? counted(count, 'row') : `${grouped(count)} of ${counted(total, 'row')}`}
        {count === 0 && <> · <button type="button" class="more" onClick={() => go(viewLink('rules'))}>show all</button></>}
      </p>
      <div class="scroll" role="region" aria-label="What is in force" tabIndex={0}>
        <table class="rules" aria-rowcount={count + 1}>
          <caption class="offscreen">What is in force, by target and policy kind</caption>
          <Head columns={columns} sort={sort} change={(by) => change({ sort: by })} rowindex />
          <tbody>{shown.map((row, i) => <Line key={from + i} row={row} at={from + i} />)}</tbody>
        </table>
      </div>
      <Pager count={count} from={from} to={to} turn={(page) => { change({ page: String(page) }); document.getElementById('heading')?.scrollIntoView(); }} />
    </>
  );
}

/** Of the rows those on which a proxy does otherwise, if that is asked for. */
function proxied(doc: Doc, rows: Row[], show: string): Row[] {
  if (show !== 'proxy') return rows;
  return rows.filter((r) => doc.comparedAt(r.target).some((c) => differs(c) && (!c.policyKind || c.policyKind === r.policyKind)));
}

/** The columns; what proxies do stands in one of its own, where that is known. */
function columnsOf(doc: Doc): Column<Row>[] {
  const columns = COLUMNS.map((c) => (c.id === 'protection' ? { ...c, key: (r: Row) => protectionText(doc, r.target) } : c));
  if (!doc.audited) return columns;
  return [...columns, { id: 'proxy', text: 'Proxy', key: (r) => proxyRank(doc, r.target, r.policyKind) }];
}

/** The columns, with what the rows are sorted by. */
const COLUMNS: Column<Row>[] = [
  { id: 'namespace', text: 'Namespace', key: (r) => r.target.namespace ?? '' },
  { id: 'route', text: 'Route', key: (r) => `${r.target.kind}/${r.target.name}` },
  { id: 'rule', text: 'Rule', key: (r) => r.target.section ?? '' },
  { id: 'via', text: 'Via', key: (r) => (r.item ? via(r.item.paths, r.target, 3, true) : '') },
  { id: 'kind', text: 'Policy kind', key: (r) => kindName(r.policyKind) },
  { id: 'inforce', text: 'In force ← from', key: (r) => (r.item?.rules ?? []).map((rule) => `${rule.name} ${brief(rule.value, ROOM)} ${rule.sources.map(sourceName).join(' ')}`).join(' ') },
  { id: 'protection', text: 'Requests are protected by', key: () => '' },
  { id: 'lost', text: 'Lost', key: (r) => (r.item ? lostCount(r.item) : 0) },
];

function Filters({ asked, sort, change }: { asked: { text: string; kind: string; namespace: string; show: string }; sort: string; change: (by: Record<string, string>) => void }): JSX.Element {
  const { doc, rows, late } = usePage();
  const { kinds, namespaces } = late ? rows.facets() : { kinds: [], namespaces: [] };
  const short = kinds.map(kindName);
  const kindText = (k: string, i: number): string => (short.indexOf(short[i]!) === short.lastIndexOf(short[i]!) ? short[i]! : k);
  return (
    <search class="filters">
      <Search label="Search" hint="names, settings, values, policies, files" value={asked.text} change={(q) => change({ q })} />
      <Choice label="Policy kind" value={asked.kind} all={[['', 'all'], ...kinds.map((k, i): [string, string] => [k, kindText(k, i)])]} change={(kind) => change({ kind })} />
      <Choice label="Namespace" value={asked.namespace} all={[['', 'all'], ...namespaces.map((n): [string, string] => [n, n])]} change={(ns) => change({ ns })} />
      <Choice label="Show" value={asked.show} all={[['', 'everything'], ['lost', 'where settings lost'], ['bare', 'where nothing is in force'], ...(doc.audited ? [['proxy', 'where a proxy does otherwise'] as [string, string]] : [])]} change={(show) => change({ show })} />
      <SortChoice columns={columnsOf(doc)} sort={sort} change={(by) => change({ sort: by })} />
    </search>
  );
}

function Line({ row, at }: { row: Row; at: number }): JSX.Element {
  const { doc } = usePage();
  const { target, item } = row;
  const open = (e: MouseEvent): void => {
    if (!(e.target as Element).closest('a, button') && !getSelection()?.toString()) go(ruleLink(target));
  };
  return (
    <tr aria-rowindex={at + 2} class="opens" onClick={open}>
      <td><Name of={target.namespace ?? ''} /></td>
      <td><span class="name dim">{target.kind}/</span><Name of={target.name} /></td>
      <th scope="row"><a class="name" href={ruleLink(target)} aria-label={targetName(target)}>{broken(target.section ?? '(all of it)')}</a></th>
      <td class="name">{item ? via(item.paths, target, 3, true) : ''}</td>
      <td>{row.policyKind ? kindName(row.policyKind) : '–'}</td>
      <td>{item && item.rules.length > 0 ? <Settings rules={item.rules} policyKind={item.policyKind} ordered={item.ordered} /> : <State of="bare" />}</td>
      <td><ProtectionCell rule={target} /></td>
      <td>{item ? <Lost n={lostCount(item)} unread={item.unread !== undefined} /> : ''}</td>
      {doc.audited && <td><ProxyCell target={target} policyKind={row.policyKind} /></td>}
    </tr>
  );
}

const SETTINGS = 6;
const ROOM = 40; // for a value in the table

function Settings({ rules, policyKind, ordered }: { rules: Rule[]; policyKind: string; ordered: boolean }): JSX.Element {
  return (
    <ul class="plain inforce">
      {rules.slice(0, SETTINGS).map((r, i) => (
        <li key={i}>
          <span class="state effective" aria-hidden="true">●</span> <Name of={(ordered ? `${i + 1}. ` : '') + r.name} />
{' '}
          <code class="value">{brief(r.value, ROOM)}</code>
          <span class="dim"> ← </span>{r.sources.map((s, j) => <>{j > 0 && ' + '}<From key={j} source={s} policyKind={policyKind} /></>)}
        </li>
      ))}
      {rules.length > SETTINGS && <li class="dim">and {rules.length - SETTINGS} more</li>}
    </ul>
  );
}

function Lost({ n, unread }: { n: number; unread: boolean }): JSX.Element {
  return <>{n > 0 && <State of="overridden" word={`${n} lost`} />}{unread && <span class="severity warning" title="what could not be read may change this"> ? unsure</span>}</>;
}


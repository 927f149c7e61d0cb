import type { JSX } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { go, usePage } from './context';
import { Choice, From, Heading, Name, Pager, Search, State, broken, usePages } from './parts';
import { ruleLink, viewLink } from './route';
import { type Row, lostCount } from './rows';
import { counted, grouped, kindName, targetName } from './text';
import type { Rule } from './types';
import { via } from './via';

/** The table of what is in force: a row for each policy kind on each target. */
export function RulesView(): JSX.Element {
  const { rows, route, late, say } = usePage();
  const { query } = route;
  const asked = { text: query.get('q') ?? '', kind: query.get('kind') ?? '', namespace: query.get('ns') ?? '', show: query.get('show') ?? '' };
  const plain = !asked.text && !asked.kind && !asked.namespace && !asked.show;
  const found = useMemo(() => (plain ? undefined : rows.find(asked)), [rows, asked.text, asked.kind, asked.namespace, asked.show]);
  const total = late || found ? rows.count() : rows.filled();
  const count = found?.length ?? total;
  const { from, to } = usePages(count, Number(query.get('page') ?? 1) || 1);
  const change = (by: Record<string, string>): void => go(viewLink('rules', { q: asked.text, kind: asked.kind, ns: asked.namespace, show: asked.show, ...by }), true);
  useEffect(() => {
    if (!plain) say(`${counted(count, 'row')} found`);
  }, [count, plain]);
  const shown = Array.from({ length: to - from }, (_, i) => found?.[from + i] ?? rows.at(from + i));
  return (
    <>
      <Heading>Rules</Heading>
      <Filters asked={asked} change={change} />
      <p class="count">
        {plain ? counted(count, 'row') : `${grouped(count)} of ${counted(total, 'row')}`}
        {count === 0 && <> · <button type="button" class="more" onClick={() => go(viewLink('rules'))}>show all</button></>}
      </p>
      <div class="scroll" role="region" aria-label="What is in force" tabIndex={0}>
        <table class="rules" aria-rowcount={count + 1}>
          <caption class="offscreen">What is in force, by target and policy kind</caption>
          <thead>
            <tr aria-rowindex={1}><th scope="col">Namespace</th><th scope="col">Route</th><th scope="col">Rule</th><th scope="col">Via</th><th scope="col">Policy kind</th><th scope="col">In force ← from</th><th scope="col">Lost</th></tr>
          </thead>
          <tbody>{shown.map((row, i) => <Line key={from + i} row={row} at={from + i} />)}</tbody>
        </table>
      </div>
      <Pager count={count} from={from} to={to} turn={(page) => { change({ page: String(page) }); document.getElementById('heading')?.scrollIntoView(); }} />
    </>
  );
}

function Filters({ asked, change }: { asked: { text: string; kind: string; namespace: string; show: string }; change: (by: Record<string, string>) => void }): JSX.Element {
  const { rows, late } = usePage();
  const { kinds, namespaces } = late ? rows.facets() : { kinds: [], namespaces: [] };
  const short = kinds.map(kindName);
  const kindText = (k: string, i: number): string => (short.indexOf(short[i]!) === short.lastIndexOf(short[i]!) ? short[i]! : k);
  return (
    <search class="filters">
      <Search label="Search" hint="names, settings, values, policies, files" value={asked.text} change={(q) => change({ q })} />
      <Choice label="Policy kind" value={asked.kind} all={[['', 'all'], ...kinds.map((k, i): [string, string] => [k, kindText(k, i)])]} change={(kind) => change({ kind })} />
      <Choice label="Namespace" value={asked.namespace} all={[['', 'all'], ...namespaces.map((n): [string, string] => [n, n])]} change={(ns) => change({ ns })} />
      <Choice label="Show" value={asked.show} all={[['', 'everything'], ['lost', 'where settings lost'], ['bare', 'where nothing is in force']]} change={(show) => change({ show })} />
    </search>
  );
}

function Line({ row, at }: { row: Row; at: number }): JSX.Element {
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
      <td>{item ? <Lost n={lostCount(item)} unread={item.unread !== undefined} /> : ''}</td>
    </tr>
  );
}

const SETTINGS = 6;

function Settings({ rules, policyKind, ordered }: { rules: Rule[]; policyKind: string; ordered: boolean }): JSX.Element {
  return (
    <ul class="plain settings">
      {rules.slice(0, SETTINGS).map((r, i) => (
        <li key={i}>
          <span class="state effective" aria-hidden="true">●</span> <Name of={(ordered ? `${i + 1}. ` : '') + r.name} />
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


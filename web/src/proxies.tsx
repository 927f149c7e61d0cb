import type { JSX } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { go, usePage } from './context';
import type { Doc } from './doc';
import { Choice, Heading, Name, NodeLink, Pager, Search, TargetLink, Value, usePages } from './parts';
import { viewLink } from './route';
import { words } from './rows';
import { type Column, Head, SortChoice, sorted } from './sort';
import { counted, flow, fullName, grouped, kindName, targetName } from './text';
import type { Ref } from './types';

/** A comparison of what is predicted with what a proxy does. */
export interface Compared {
  verdict: string;
  target?: Ref;
  policyKind?: string;
  setting?: string;
  settings?: string[];
  policies: Ref[];
  predicted?: unknown;
  found?: unknown;
  proxy?: string;
  message: string;
  xds?: { listener?: string; routeConfig?: string; virtualHost?: string; routes?: string[]; filter?: string; cluster?: string };
}

/** A proxy whose configuration was read. */
export interface ProxyFacts {
  name: string;
  implementation: string;
  gateways: string[];
  versions: { listeners?: string; routes?: string; clusters?: string };
}

const VERDICTS: [verdict: string, text: string][] = [
  ['RouteMissing', 'no route'], ['Missing', 'not done'], ['Different', 'done otherwise'], ['Unexplained', 'unexplained'], ['NotCompared', 'not compared'], ['Same', 'as predicted'],
];

const rank = (c: Compared): number => VERDICTS.findIndex(([v]) => v === c.verdict);

/** differs is whether it is a difference. */
export function differs(c: Compared): boolean {
  return c.verdict !== 'Same' && c.verdict !== 'NotCompared';
}

function wordOf(c: Compared): string {
  return VERDICTS[rank(c)]?.[1] ?? c.verdict;
}

export function Verdict({ of, word = wordOf(of) }: { of: Compared; word?: string }): JSX.Element {
  if (of.verdict === 'Same') return <span class="state effective"><span aria-hidden="true">✓</span> {word}</span>;
  if (of.verdict === 'NotCompared') return <span class="state unknown"><span aria-hidden="true">?</span> {word}</span>;
  return <span class="state overridden"><span aria-hidden="true">≠</span> {word}</span>;
}

function settingOf(c: Compared): string {
  return c.setting ?? c.settings?.join(', ') ?? '';
}

/** place is where to look in the configuration of the proxy. */
function place(c: Compared): string {
  const { xds } = c;
  if (!xds) return '';
  const routes = xds.routes ?? [];
  const more = routes.length > 1 ? ` and ${routes.length - 1} more` : '';
  return [xds.filter && `filter ${xds.filter}`, routes.length > 0 ? `route ${routes[0]}${more}` : xds.listener && `listener ${xds.listener}`].filter(Boolean).join(', ');
}

const MOST = 120;

const COLUMNS: Column<Compared>[] = [
  { id: 'target', text: 'Target', key: (c) => (c.target ? targetName(c.target) : '') },
  { id: 'kind', text: 'Policy kind', key: (c) => kindName(c.policyKind ?? '') },
  { id: 'setting', text: 'Setting', key: settingOf },
  { id: 'proxy', text: 'The proxy', key: rank },
  { id: 'predicted', text: 'Predicted', key: (c) => (c.predicted === undefined ? '' : flow(c.predicted, 80)) },
  { id: 'found', text: 'Found', key: (c) => (c.found === undefined ? '' : flow(c.found, 80)) },
  { id: 'place', text: 'Where to look', key: place },
];

const textsOf = new WeakMap<Doc, string[]>();

function texts(doc: Doc): string[] {
  let made = textsOf.get(doc);
  if (!made) {
    made = doc.compared().map((c) => [c.target && targetName(c.target), c.policyKind, settingOf(c), c.verdict, wordOf(c), c.message, c.proxy, place(c), ...c.policies.map(fullName)].join(' ').toLowerCase());
    textsOf.set(doc, made);
  }
  return made;
}

/** What proxies do, held against what is predicted. */
export function ProxiesView(): JSX.Element {
  const { doc, route, say } = usePage();
  const [q, verdict, kind, sort] = ['q', 'verdict', 'kind', 'sort'].map((k) => route.query.get(k) ?? '') as [string, string, string, string];
  const all = doc.compared();
  const kinds = useMemo(() => [...new Set(all.map((c) => c.policyKind ?? '').filter(Boolean))].sort(), [doc]);
  const found = useMemo(() => {
    const asked = words(q);
    const text = asked.length > 0 ? texts(doc) : [];
    const fits = (c: Compared): boolean => verdict === '' || (verdict === 'differs' ? differs(c) : c.verdict === verdict);
    const asking = all.filter((c, i) => fits(c) && (!kind || c.policyKind === kind) && asked.every((w) => text[i]!.includes(w)));
    return sorted(sort ? asking : [...asking].sort((a, b) => rank(a) - rank(b)), sort, COLUMNS);
  }, [doc, q, verdict, kind, sort]);
  const { from, to } = usePages(found.length, Number(route.query.get('page') ?? 1) || 1);
  const change = (by: Record<string, string>): void => go(viewLink('proxies', { q, verdict, kind, sort, ...by }), true);
  useEffect(() => {
    if (q || verdict || kind) say(`${counted(found.length, 'comparison')} found`);
  }, [found]);
  const several = doc.proxies().length > 1;
  return (
    <>
      <Heading>Proxies</Heading>
      <p class="note">What the proxies are configured to do, compared with what the policies ask for.</p>
      <Proxies />
      <search class="filters">
        <Search label="Search" hint="targets, settings, policies, routes of the proxy" value={q} change={(text) => change({ q: text })} />
        <Choice label="The proxy" value={verdict} all={[['', 'all'], ['differs', 'does otherwise'], ...VERDICTS]} change={(v) => change({ verdict: v })} />
        <Choice label="Policy kind" value={kind} all={[['', 'all'], ...kinds.map((k): [string, string] => [k, kindName(k)])]} change={(k) => change({ kind: k })} />
        <SortChoice columns={COLUMNS} sort={sort} change={(by) => change({ sort: by })} />
      </search>
      <p class="count">{found.length === all.length ? counted(all.length, 'comparison') : `${grouped(found.length)} of ${counted(all.length, 'comparison')}`}</p>
      <ComparedTable all={found.slice(from, to)} count={found.length} at={from} several={several} sort={sort} change={(by) => change({ sort: by })} />
      <Pager count={found.length} from={from} to={to} turn={(page) => change({ page: String(page) })} />
    </>
  );
}

/** The proxies, with what they run with, and where those of one Gateway differ. */
function Proxies(): JSX.Element {
  const { doc } = usePage();
  return (
    <>
      <ul class="plain proxies">
        {doc.proxies().map((p) => (
          <li key={p.name}>
            <Name of={p.name} /> <span class="dim">{[p.implementation, p.gateways.length > 0 && p.gateways.map((g) => `gateway/${g}`).join(', '), ...Object.entries(p.versions).map(([what, v]) => `${what} ${v}`)].filter(Boolean).join(' · ')}</span>
          </li>
        ))}
      </ul>
      {doc.drift().map((d, i) => <p key={i} class="note warn">{d}</p>)}
    </>
  );
}

function ComparedTable({ all, count, at, several, sort, change }: { all: Compared[]; count: number; at: number; several: boolean; sort: string; change: (sort: string) => void }): JSX.Element {
  return (
    <div class="scroll" role="region" aria-label="What proxies do" tabIndex={0}>
      <table class="compared" aria-rowcount={count + 1}>
        <Head columns={COLUMNS} sort={sort} change={change} rowindex />
        <tbody>
          {all.map((c, i) => (
            <tr key={at + i} aria-rowindex={at + i + 2}>
              <td>{c.target ? <TargetLink target={c.target} /> : '–'}</td>
              <td>{c.policyKind ? kindName(c.policyKind) : '–'}</td>
              <th scope="row"><Name of={settingOf(c)} />{c.policies.length > 0 && <div class="dim">{c.policies.map((p, j) => <>{j > 0 && ', '}<NodeLink of={p} text={fullName(p)} /></>)}</div>}</th>
              <td><Verdict of={c} />{c.verdict !== 'Same' && <div class="dim prose">{c.message}</div>}{several && c.proxy && <div class="name dim">{c.proxy}</div>}</td>
              <td>{c.predicted === undefined ? '' : <Value of={c.predicted} summary={flow(c.predicted, MOST)} />}</td>
              <td>{c.found === undefined ? '' : <Value of={c.found} summary={flow(c.found, MOST)} />}</td>
              <td class="name">{place(c)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** What the proxies do at one target: the differences, and how much is as predicted. */
export function ProxyAt({ target }: { target: Ref }): JSX.Element | null {
  const { doc } = usePage();
  const all = doc.comparedAt(target);
  if (!doc.audited || all.length === 0) return null;
  const shown = all.filter((c) => c.verdict !== 'Same');
  const same = all.reduce((n, c) => n + (c.verdict === 'Same' ? (c.settings?.length ?? 1) : 0), 0);
  return (
    <section>
      <h2>What the proxy does</h2>
      {same > 0 && <p><Verdict of={{ verdict: 'Same', policies: [], message: '' }} word={`${counted(same, 'setting')} as predicted`} /></p>}
      {shown.length > 0 && <ComparedTable all={shown} count={shown.length} at={0} several={doc.proxies().length > 1} sort="" change={() => go(viewLink('proxies', { q: targetName(target).toLowerCase() }))} />}
    </section>
  );
}

/** What the proxies do with one policy kind on a target, in short. */
export function ProxyCell({ target, policyKind }: { target: Ref; policyKind: string }): JSX.Element {
  const { doc } = usePage();
  const [worst, n] = worstOf(doc, target, policyKind);
  if (!worst) return <>–</>;
  if (!differs(worst)) return <Verdict of={worst} />;
  return <a href={viewLink('proxies', { q: targetName(target).toLowerCase(), verdict: 'differs' })}><Verdict of={worst} word={n === 1 ? wordOf(worst) : counted(n, 'difference')} /></a>;
}

/** worstOf is the comparison that counts for a policy kind on a target, and how many differences there are. */
function worstOf(doc: Doc, target: Ref, policyKind: string): [worst: Compared | undefined, differences: number] {
  let worst: Compared | undefined;
  let n = 0;
  for (const c of doc.comparedAt(target)) {
    if (c.policyKind && c.policyKind !== policyKind) continue;
    if (!worst || order(c) < order(worst)) worst = c;
    if (differs(c)) n++;
  }
  return [worst, n];
}

/** order is that of a cell: what agrees says more than what is not compared. */
function order(c: Compared): number {
  return c.verdict === 'NotCompared' ? VERDICTS.length : rank(c);
}

/** proxyRank is by what rows are sorted. */
export function proxyRank(doc: Doc, target: Ref, policyKind: string): number {
  const [worst] = worstOf(doc, target, policyKind);
  return worst ? order(worst) : VERDICTS.length + 1;
}

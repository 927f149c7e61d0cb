import type { JSX } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { go, usePage } from './context';
import type { Doc } from './doc';
import { Choice, Heading, NodeLink, Pager, Search, State, usePages } from './parts';
import { viewLink } from './route';
import { words } from './rows';
import { type Column, Head, SortChoice, sorted } from './sort';
import { counted, groupKind, grouped, targetName } from './text';
import type { Ancestor, Condition, Difference, Status } from './types';

const textsOf = new WeakMap<Doc, string[]>();

function texts(doc: Doc): string[] {
  let made = textsOf.get(doc);
  if (!made) {
    made = doc.statuses.map((_, i) => {
      const s = doc.status(i);
      const ancestors = s.ancestors.flatMap((a) => [a.ancestorRef ? targetName(a.ancestorRef) : '', a.controllerName ?? '', ...a.conditions.map((c) => `${c.type}=${c.status} ${c.reason} ${c.message}`)]);
      return [targetName(s.object), groupKind(s.object), s.verdict, s.note, ...ancestors, ...(s.differences ?? []).map((d) => `${d.kind} ${d.message}`)].join(' ').toLowerCase();
    });
    textsOf.set(doc, made);
  }
  return made;
}

/** The columns. Conditions are sorted by how bad they are. */
function columnsOf(doc: Doc): Column<number>[] {
  return [
    { id: 'object', text: 'Object', key: (i) => targetName(doc.status(i).object) },
    { id: 'conditions', text: 'Conditions', key: (i) => worst(doc.status(i)) },
  ];
}

function worst(s: Status): number {
  if (s.verdict === 'Differs') return 0;
  return Math.min(4, ...s.ancestors.flatMap((a) => a.conditions.map((c) => ['bad', 'unsure', 'plain', 'good'].indexOf(tone(c)) + 1)));
}

/** What policies, routes and gateways should report about themselves. */
export function StatusView(): JSX.Element {
  const { doc, route, say } = usePage();
  const [q, kind, show, sort] = ['q', 'kind', 'show', 'sort'].map((k) => route.query.get(k) ?? '') as [string, string, string, string];
  const columns = useMemo(() => columnsOf(doc), [doc]);
  const all = useMemo(() => doc.statuses.map((_, i) => i), [doc]);
  const kinds = useMemo(() => [...new Set(all.map((i) => groupKind(doc.status(i).object)))].sort(), [doc]);
  const found = useMemo(() => {
    const asked = words(q);
    const text = asked.length > 0 ? texts(doc) : [];
    const asking = all.filter((i) => (!kind || groupKind(doc.status(i).object) === kind) && (show !== 'bad' || isBad(doc.status(i))) && asked.every((w) => text[i]!.includes(w)));
    return sorted(asking, sort, columns);
  }, [doc, q, kind, show, sort]);
  const { from, to } = usePages(found.length, Number(route.query.get('page') ?? 1) || 1);
  const change = (by: Record<string, string>): void => go(viewLink('status', { q, kind, show, sort, ...by }), true);
  useEffect(() => {
    if (q || kind || show) say(`${counted(found.length, 'object')} found`);
  }, [found]);
  return (
    <>
      <Heading>Status</Heading>
      <p class="note">What each object’s status should say, predicted from the input.</p>
      <search class="filters">
        <Search label="Search" hint="objects, conditions, reasons, messages" value={q} change={(text) => change({ q: text })} />
        <Choice label="Kind" value={kind} all={[['', 'all'], ...kinds.map((k): [string, string] => [k, k.split('.')[0]!])]} change={(k) => change({ kind: k })} />
        <Choice label="Show" value={show} all={[['', 'everything'], ['bad', 'with a bad condition']]} change={(s) => change({ show: s })} />
        <SortChoice columns={columns} sort={sort} change={(by) => change({ sort: by })} />
      </search>
      <p class="count">{found.length === all.length ? counted(all.length, 'object') : `${grouped(found.length)} of ${counted(all.length, 'object')}`}</p>
      <div class="scroll" role="region" aria-label="Predicted status" tabIndex={0}>
        <table class="statuses" aria-rowcount={found.length + 1}>
          <Head columns={columns} sort={sort} change={(by) => change({ sort: by })} rowindex />
          <tbody>
            {found.slice(from, to).map((i, at) => {
              const s = doc.status(i);
              return (
                <tr key={i} aria-rowindex={from + at + 2}>
                  <th scope="row"><NodeLink of={s.object} />{s.attachedRoutes !== undefined && <div class="dim">{counted(s.attachedRoutes, 'attached route')}</div>}</th>
                  <td><StatusBody of={s} /></td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      <Pager count={found.length} from={from} to={to} turn={(page) => change({ page: String(page) })} />
    </>
  );
}

/** The conditions of an object, by ancestor, and what is reported differently. */
export function StatusBody({ of }: { of: Status }): JSX.Element {
  const { doc, late } = usePage();
  return (
    <>
      {of.note && <p class="dim">{of.note}</p>}
      {of.ancestors.length === 0 && !of.note && <p class="dim">no conditions</p>}
      {of.ancestors.map((a, i) => <Conditions key={i} of={a} partly={late && doc.isPartly(of.object)} />)}
      {of.verdict && <p class={of.verdict === 'Differs' ? 'severity warning' : 'dim'}>{({ Agrees: 'reported as predicted', Differs: '▲ reported differently', NotCompared: 'not compared with what is reported' } as Record<string, string>)[of.verdict] ?? of.verdict}</p>}
      {(of.differences ?? []).map((d, i) => <Difference1 key={i} of={d} />)}
      {(of.remarks ?? []).map((d, i) => <Difference1 key={i} of={d} />)}
    </>
  );
}

function Difference1({ of }: { of: Difference }): JSX.Element {
  const side = (s: { status: string; reason?: string } | undefined): string => (s ? [s.status, s.reason].filter(Boolean).join(' ') : 'nothing');
  return (
    <p class="difference">
      <span class="name">{of.kind}</span> {of.type && <span class="name">{of.type}</span>} {(of.predicted ?? of.reported) && <>predicted {side(of.predicted)}, reported {side(of.reported)}</>}
      <span class="dim"> {of.message}</span>
    </p>
  );
}

/** The conditions for one ancestor. partly is whether the object is a policy that is only partly in force, which conditions that are true do not tell. */
function Conditions({ of, partly }: { of: Ancestor; partly: boolean }): JSX.Element {
  const isPartly = (c: Condition): boolean => c.status === 'True' && ((partly && ENFORCED.includes(c.type)) || c.reason.startsWith('Partially'));
  return (
    <div class="ancestor">
      {(of.ancestorRef || of.controllerName) && (
        <p class="dim">{of.ancestorRef && <>for <NodeLink of={of.ancestorRef} /> </>}{of.controllerName && <>by <span class="name">{of.controllerName}</span></>}</p>
      )}
      <ul class="plain conditions">
        {of.conditions.map((c, i) => (
          <li key={i}>
            <span class="name">{c.type}</span>=<span class={`status ${isPartly(c) ? 'unsure' : tone(c)}`}>{c.status}</span> <span class="name">{c.reason}</span>
            {isPartly(c) && <> <State of="partial" /></>}
            {c.message && <span class="dim"> {c.message}</span>}
          </li>
        ))}
      </ul>
    </div>
  );
}

const WANTED = ['Accepted', 'ResolvedRefs', 'Programmed', 'Enforced', 'Attached', 'Ready'];
const ENFORCED = ['Enforced', 'Programmed'];
const UNWANTED = ['Conflicted', 'Overridden', 'OverlappingTLSConfig'];

/** tone is how good a condition is, where its type tells. */
export function tone(c: Condition): 'good' | 'bad' | 'unsure' | 'plain' {
  if (c.status === 'Unknown') return 'unsure';
  if (WANTED.includes(c.type) && c.status === 'True') return c.reason.startsWith('Partially') ? 'unsure' : 'good';
  if (WANTED.includes(c.type)) return 'bad';
  if (UNWANTED.includes(c.type)) return c.status === 'True' ? 'bad' : 'plain';
  return 'plain';
}

function isBad(s: Status): boolean {
  return s.verdict === 'Differs' || s.ancestors.some((a) => a.conditions.some((c) => tone(c) === 'bad' || c.status === 'Unknown'));
}

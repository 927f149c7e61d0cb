import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { go, usePage } from './context';
import type { Trouble } from './doc';
import { Choice, Heading, NodeLink, Pager, Place, Search, Severity, usePages } from './parts';
import { viewLink } from './route';
import { words } from './rows';
import { type Column, Head, SortChoice, sorted } from './sort';
import { counted, grouped, objectName, originText, targetName } from './text';

/** Problems and findings: what is wrong with the input, and what keeps the report from being complete. */
export function ProblemsView(): JSX.Element {
  const { doc, route, say } = usePage();
  const all = doc.troubles();
  const [q, severity, code, sort] = ['q', 'severity', 'code', 'sort'].map((k) => route.query.get(k) ?? '') as [string, string, string, string];
  const texts = useMemo(() => all.map((t) => [t.severity, t.code, t.ref && targetName(t.ref), originText(t.origin), t.message, t.hint].join(' ').toLowerCase()), [all]);
  const found = useMemo(
    () => sorted(all.filter((t, i) => (!severity || t.severity === severity) && (!code || t.code === code) && words(q).every((w) => texts[i]!.includes(w))), sort, COLUMNS),
    [all, q, severity, code, sort],
  );
  const { from, to } = usePages(found.length, Number(route.query.get('page') ?? 1) || 1);
  const change = (by: Record<string, string>): void => go(viewLink('problems', { q, severity, code, sort, ...by }), true);
  const codes = useMemo(() => [...new Set(all.map((t) => t.code))].sort(), [all]);
  useEffect(() => {
    if (q || severity || code) say(`${counted(found.length, 'problem')} found`);
  }, [found]);
  return (
    <>
      <Heading>Problems</Heading>
      {all.length === 0 ? <p>Nothing was found, neither problems nor findings.</p> : (
        <>
          <search class="filters">
            <Search label="Search" hint="codes, objects, files, words" value={q} change={(text) => change({ q: text })} />
            <Choice label="Severity" value={severity} all={[['', 'all'], ['error', 'error'], ['warning', 'warning'], ['info', 'info']]} change={(s) => change({ severity: s })} />
            <Choice label="Code" value={code} all={[['', 'all'], ...codes.map((c): [string, string] => [c, c])]} change={(c) => change({ code: c })} />
            <SortChoice columns={COLUMNS} sort={sort} change={(by) => change({ sort: by })} />
          </search>
          <p class="count">{found.length === all.length ? counted(all.length, 'problem') : `${grouped(found.length)} of ${counted(all.length, 'problem')}`}</p>
          <TroubleTable all={found.slice(from, to)} count={found.length} at={from} sort={sort} change={(by) => change({ sort: by })} />
          <Pager count={found.length} from={from} to={to} turn={(page) => change({ page: String(page) })} />
        </>
      )}
    </>
  );
}

const COLUMNS: Column<Trouble>[] = [
  { id: 'severity', text: 'Severity', key: (t) => ['error', 'warning', 'info'].indexOf(t.severity) + (t.suppressed ? 10 : 0) },
  { id: 'code', text: 'Code', key: (t) => t.code },
  { id: 'object', text: 'Object', key: (t) => (t.ref ? targetName(t.ref) : '') },
  { id: 'what', text: 'What', key: (t) => t.message },
  { id: 'origin', text: 'Written in', key: (t) => originText(t.origin) },
];

/** All problems of something as a table. */
export function TroubleList({ all }: { all: Trouble[] }): JSX.Element {
  const [sort, setSort] = useState('');
  return <TroubleTable all={sorted(all, sort, COLUMNS)} count={all.length} at={0} sort={sort} change={setSort} />;
}

/** Problems as a table. count and at say where it stands in a longer one. */
function TroubleTable({ all, count, at, sort, change }: { all: Trouble[]; count: number; at: number; sort: string; change: (sort: string) => void }): JSX.Element {
  return (
    <div class="scroll" role="region" aria-label="Problems" tabIndex={0}>
      <table class="troubles" aria-rowcount={count + 1}>
        <Head columns={COLUMNS} sort={sort} change={change} rowindex />
        <tbody>
          {all.map((t, i) => (
            <tr key={at + i} aria-rowindex={at + i + 2} class={t.suppressed ? 'suppressed' : undefined}>
              <td><Severity of={t.severity} /></td>
              <td class="name">{t.code}</td>
              <td>{t.ref ? <NodeLink of={t.ref} text={t.ref.section ? targetName(t.ref) : objectName(t.ref)} /> : '–'}</td>
              <td class="prose">
                {t.message}
                {t.hint && <div class="hint">hint: {t.hint}</div>}
                {t.suppressed && <div class="dim">does not count, by {t.suppressed.by}{t.suppressed.reason ? `: ${t.suppressed.reason}` : ''}</div>}
              </td>
              <td><Place origin={t.origin} /></td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

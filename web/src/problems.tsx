import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { go, usePage } from './context';
import type { Trouble } from './doc';
import { Choice, Heading, NodeLink, Pager, Place, Search, Severity, Some, usePages } from './parts';
import { viewLink } from './route';
import { words } from './rows';
import { type Column, Head, SortChoice, sorted } from './sort';
import { counted, grouped, originText, targetName } from './text';

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
  const lines = useMemo(() => alike(found), [found]);
  const { from, to } = usePages(lines.length, Number(route.query.get('page') ?? 1) || 1);
  const change = (by: Record<string, string>): void => go(viewLink('problems', { q, severity, code, sort, ...by }), true);
  const codes = useMemo(() => [...new Set(all.map((t) => t.code))].sort(), [all]);
  useEffect(() => {
    if (q || severity || code) say(`${counted(found.length, 'problem')} found`);
  }, [found]);
  return (
    <>
      <Heading>Problems</Heading>
      {all.length === 0 ? <p>There are no problems and no findings.</p> : (
        <>
          <search class="filters">
            <Search label="Search" hint="codes, objects, files, words" value={q} change={(text) => change({ q: text })} />
            <Choice label="Severity" value={severity} all={[['', 'all'], ['error', 'error'], ['warning', 'warning'], ['info', 'info']]} change={(s) => change({ severity: s })} />
            <Choice label="Code" value={code} all={[['', 'all'], ...codes.map((c): [string, string] => [c, c])]} change={(c) => change({ code: c })} />
            <SortChoice columns={COLUMNS} sort={sort} change={(by) => change({ sort: by })} />
          </search>
          <p class="count">{found.length === all.length ? counted(all.length, 'problem') : `${grouped(found.length)} of ${counted(all.length, 'problem')}`}{lines.length < found.length && ` in ${counted(lines.length, 'line')}`}</p>
          <TroubleTable lines={lines.slice(from, to)} count={lines.length} at={from} sort={sort} change={(by) => change({ sort: by })} />
          <Pager count={lines.length} from={from} to={to} turn={(page) => change({ page: String(page) })} />
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

/** Problems that say the same of different objects: a line of the table. */
interface Alike {
  first: Trouble;
  all: Trouble[];
}

const FEW = 3; // so many problems have a line each, though they say the same

/** alike puts problems together that say the same of different objects, in the order of the first ones. */
function alike(all: Trouble[]): Alike[] {
  const groups = new Map<string, Trouble[]>();
  for (const t of all) {
    const key = [t.severity, t.code, t.suppressed?.by, t.suppressed?.reason, shape(t.message), shape(t.hint ?? '')].join('\n');
    const same = groups.get(key);
    if (same) same.push(t);
    else groups.set(key, [t]);
  }
  const out: Alike[] = [];
  for (const same of groups.values()) {
    if (same.length > FEW) out.push({ first: same[0]!, all: same });
    else out.push(...same.map((t) => ({ first: t, all: [t] })));
  }
  return out;
}

/** shape is a message without the objects, the quoted texts and the numbers in it. */
function shape(message: string): string {
  return message.replace(/"[^"]*"/g, '…').replace(/[^\s,;()]*\/[^\s,;()]*[^\s,;():.]/g, '…').replace(/\d+/g, '#');
}

/** All problems of something as a table. */
export function TroubleList({ all }: { all: Trouble[] }): JSX.Element {
  const [sort, setSort] = useState('');
  const lines = useMemo(() => alike(sorted(all, sort, COLUMNS)), [all, sort]);
  return <TroubleTable lines={lines} count={lines.length} at={0} sort={sort} change={setSort} />;
}

/** What is said of several objects, as a line that opens. */
function Several({ all }: { all: Trouble[] }): JSX.Element {
  const { printing } = usePage();
  const [open, setOpen] = useState(false);
  return (
    <>
      <div><button type="button" class="more" aria-expanded={open} onClick={() => setOpen(!open)}>{open ? 'less' : `the same of ${counted(all.length - 1, 'other object')}`}</button></div>
      {(open || printing) && (
        <div class="same">
          <Some of={all.slice(1)} most={20} noun="problem" each={(t) => <>{t.ref && <NodeLink of={t.ref} />} <Place origin={t.origin} /><div class="dim">{t.message}</div></>} />
        </div>
      )}
    </>
  );
}

/** Problems as a table. count and at say where it stands in a longer one. */
function TroubleTable({ lines, count, at, sort, change }: { lines: Alike[]; count: number; at: number; sort: string; change: (sort: string) => void }): JSX.Element {
  return (
    <div class="scroll" role="region" aria-label="Problems" tabIndex={0}>
      <table class="troubles" aria-rowcount={count + 1}>
        <Head columns={COLUMNS} sort={sort} change={change} rowindex />
        <tbody>
          {lines.map(({ first: t, all }, i) => (
            <tr key={at + i} aria-rowindex={at + i + 2} class={t.suppressed ? 'suppressed' : undefined}>
              <td><Severity of={t.severity} /></td>
              <td><span class="name">{t.code}</span>{all.length > 1 && <span class="times"> × {grouped(all.length)}</span>}</td>
              <td>{t.ref ? <NodeLink of={t.ref} /> : '–'}</td>
              <td class="prose">
                {t.message}
                {t.hint && <div class="hint">hint: {t.hint}</div>}
                {t.suppressed && <div class="dim">ignored, by {t.suppressed.by}{t.suppressed.reason ? `: ${t.suppressed.reason}` : ''}</div>}
                {all.length > 1 && <Several all={all} />}
              </td>
              <td><Place origin={t.origin} /></td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

import type { JSX } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { go, usePage } from './context';
import type { Trouble } from './doc';
import { Choice, Heading, NodeLink, Pager, Place, Search, Severity, usePages } from './parts';
import { viewLink } from './route';
import { words } from './rows';
import { counted, grouped, objectName, originText, targetName } from './text';

/** Problems and findings: what is wrong with the input, and what keeps the report from being complete. */
export function ProblemsView(): JSX.Element {
  const { doc, route, say } = usePage();
  const all = doc.troubles();
  const [q, severity, code] = ['q', 'severity', 'code'].map((k) => route.query.get(k) ?? '') as [string, string, string];
  const texts = useMemo(() => all.map((t) => [t.severity, t.code, t.ref && targetName(t.ref), originText(t.origin), t.message, t.hint].join(' ').toLowerCase()), [all]);
  const found = useMemo(
    () => all.filter((t, i) => (!severity || t.severity === severity) && (!code || t.code === code) && words(q).every((w) => texts[i]!.includes(w))),
    [all, q, severity, code],
  );
  const { from, to } = usePages(found.length, Number(route.query.get('page') ?? 1) || 1);
  const change = (by: Record<string, string>): void => go(viewLink('problems', { q, severity, code, ...by }), true);
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
          </search>
          <p class="count">{found.length === all.length ? counted(all.length, 'problem') : `${grouped(found.length)} of ${counted(all.length, 'problem')}`}</p>
          <TroubleList all={found.slice(from, to)} count={found.length} at={from} />
          <Pager count={found.length} from={from} to={to} turn={(page) => change({ page: String(page) })} />
        </>
      )}
    </>
  );
}

/** Problems as a table. count and at say where it stands in a longer one. */
export function TroubleList({ all, count = all.length, at = 0 }: { all: Trouble[]; count?: number; at?: number }): JSX.Element {
  return (
    <div class="scroll" role="region" aria-label="Problems" tabIndex={0}>
      <table class="troubles" aria-rowcount={count + 1}>
        <thead><tr aria-rowindex={1}><th scope="col">Severity</th><th scope="col">Code</th><th scope="col">Object</th><th scope="col">What</th><th scope="col">Written in</th></tr></thead>
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

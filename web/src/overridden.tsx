import type { JSX } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { go, usePage } from './context';
import { type Doc, once } from './doc';
import { Choice, From, Heading, Name, Pager, Place, Search, Some, Sources, State, TargetLink, Value, usePages } from './parts';
import { viewLink } from './route';
import { words } from './rows';
import { type Column, Head, SortChoice, sorted } from './sort';
import { counted, flow, grouped, isRule, kindName, objectName, originText, sourceName, targetName } from './text';
import type { Overridden, Ref } from './types';

/** Overridden settings that differ in their targets alone: one setting of one policy, overridden by the same for the same reason. */
interface Group {
  first: Overridden;
  targets: Ref[];
  text: string;
}

const groupsOf = new WeakMap<Doc, () => Group[]>();

function groups(doc: Doc): Group[] {
  let made = groupsOf.get(doc);
  if (!made) groupsOf.set(doc, (made = once(() => makeGroups(doc))));
  return made();
}

function makeGroups(doc: Doc): Group[] {
  const { pack } = doc;
  const found = new Map<string, Group>();
  doc.overridden.forEach((ref, i) => {
    // equal values have equal numbers
    const key = ['policyKind', 'rule', 'source', 'value', 'lostTo', 'reason', 'everywhere', 'unread'].map((f) => pack.field(ref, f)).join();
    const target = pack.value<Ref>(pack.field(ref, 'target'));
    const group = found.get(key);
    if (!group) {
      const first = doc.loss(i);
      const names = [first.source, ...first.lostTo].map((s) => `${s.policy ? targetName(s.policy) : ''} ${sourceName(s)} ${originText(s.origin)}`);
      const text = [first.policyKind, first.rule, flow(first.value, 2000), first.reason, first.why, first.message, first.everywhere ? 'not in force anywhere' : '', ...names];
      found.set(key, { first, targets: [target], text: text.join(' ').toLowerCase() });
    } else if (group.targets.at(-1) !== target) {
      group.targets.push(target);
    }
  });
  return [...found.values()];
}

/** policyName is the policy whose setting was overridden. */
function policyName(of: Overridden): string {
  return of.source.policy ? targetName(of.source.policy) : sourceName(of.source);
}

/** overriddenText counts: "13 settings overridden on 8 rules". A setting of a policy counts once on each target. */
export function overriddenText(doc: Doc): string {
  const { pack } = doc;
  const targets = new Set(doc.overridden.map((ref) => pack.field(ref, 'target')));
  const rules = [...targets].every((target) => isRule({ kind: pack.text(pack.field(target, 'kind')), section: pack.text(pack.field(target, 'section')) }));
  return `${counted(doc.overridden.length, 'setting')} overridden on ${counted(targets.size, rules ? 'rule' : 'target')}`;
}

const COLUMNS: Column<Group>[] = [
  { id: 'policy', text: 'Policy', key: (g) => policyName(g.first) },
  { id: 'setting', text: 'Setting', key: (g) => `${g.first.rule} ${g.first.summary ?? flow(g.first.value, 80)}` },
  { id: 'target', text: 'Overridden on', key: (g) => g.targets.length },
  { id: 'to', text: 'By', key: (g) => g.first.lostTo.map(sourceName).join(' ') },
  { id: 'why', text: 'Why', key: (g) => g.first.why },
];

/** The settings that were overridden, by what and why. */
export function OverriddenView(): JSX.Element {
  const { doc, route, say } = usePage();
  const all = groups(doc);
  const [q, kind, show, sort] = ['q', 'kind', 'show', 'sort'].map((k) => route.query.get(k) ?? '') as [string, string, string, string];
  const found = useMemo(() => {
    const asked = words(q);
    const targetTexts = asked.length > 0 ? all.map(once0) : [];
    const asking = all.filter((g, i) => (!kind || g.first.policyKind === kind) && (show !== 'nowhere' || g.first.everywhere) &&
      asked.every((w) => g.text.includes(w) || targetTexts[i]!().includes(w)));
    return sorted(asking, sort, COLUMNS);
  }, [all, q, kind, show, sort]);
  const { from, to } = usePages(found.length, Number(route.query.get('page') ?? 1) || 1);
  const change = (by: Record<string, string>): void => go(viewLink('overridden', { q, kind, show, sort, ...by }), true);
  const kinds = useMemo(() => [...new Set(all.map((g) => g.first.policyKind))].sort(), [all]);
  const nowhere = all.filter((g) => g.first.everywhere).length;
  useEffect(() => {
    if (q || kind || show) say(`${counted(found.length, 'row')} found`);
  }, [found]);
  return (
    <>
      <Heading>Overridden</Heading>
      {all.length === 0 ? <p>No setting of any policy is overridden.</p> : (
        <>
          <search class="filters">
            <Search label="Search" hint="settings, policies, targets, reasons" value={q} change={(text) => change({ q: text })} />
            <Choice label="Policy kind" value={kind} all={[['', 'all'], ...kinds.map((k): [string, string] => [k, kindName(k)])]} change={(k) => change({ kind: k })} />
            <Choice label="Show" value={show} all={[['', 'everything'], ['nowhere', `not in force anywhere (${nowhere})`]]} change={(s) => change({ show: s })} />
            <SortChoice columns={COLUMNS} sort={sort} change={(by) => change({ sort: by })} />
          </search>
          <p class="count">{overriddenText(doc)}, in {found.length === all.length ? counted(all.length, 'row') : `${grouped(found.length)} of ${counted(all.length, 'row')}`}</p>
          <div class="scroll" role="region" aria-label="Overridden settings" tabIndex={0}>
            <table class="overridden" aria-rowcount={found.length + 1}>
              <Head columns={COLUMNS} sort={sort} change={(by) => change({ sort: by })} rowindex />
              <tbody>{found.slice(from, to).map((g, i) => <Line key={from + i} group={g} at={from + i} />)}</tbody>
            </table>
          </div>
          <Pager count={found.length} from={from} to={to} turn={(page) => change({ page: String(page) })} />
        </>
      )}
    </>
  );
}

/** The text of a group's targets, made when something is not found in the rest. */
function once0(g: Group): () => string {
  return once(() => g.targets.map((t) => targetName(t)).join(' ').toLowerCase());
}

/** Targets that are parts of one object stand together. */
function byObject(targets: Ref[]): Ref[][] {
  const found = new Map<string, Ref[]>();
  for (const t of targets) {
    const name = objectName(t);
    const same = found.get(name);
    if (same) same.push(t);
    else found.set(name, [t]);
  }
  return [...found.values()];
}

function Sections({ of }: { of: Ref[] }): JSX.Element {
  if (of.length === 1) return <TargetLink target={of[0]!} />;
  return <>{objectName(of[0]!)}: {of.slice(0, 10).map((t, i) => <>{i > 0 && ', '}<TargetLink target={t} text={t.section ?? 'the whole object'} /></>)}{of.length > 10 && ` and ${of.length - 10} more`}</>;
}

function Line({ group, at }: { group: Group; at: number }): JSX.Element {
  const { first, targets } = group;
  return (
    <tr aria-rowindex={at + 2}>
      <td><From source={first.source} /><div><Place origin={first.source.origin} /></div></td>
      <th scope="row"><Name of={first.rule} />{first.reason === 'ConditionFalse' ? <div><State of="idle" /></div> : first.everywhere && <div><State of="overridden" word="not in force anywhere" /></div>}<div class="dim"><Value of={first.value} summary={first.summary} /></div></th>
      <td>{targets.length > 1 && <div>{counted(targets.length, targets.every(isRule) ? 'rule' : 'target')}</div>}<Some of={byObject(targets)} most={4} noun="object" each={(same) => <Sections of={same} />} /></td>
      <td><Sources all={first.lostTo} /></td>
      <td class="prose">{first.why}<div class="dim">{first.message}</div></td>
    </tr>
  );
}

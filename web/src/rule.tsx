import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { usePage } from './context';
import { Copy, From, Heading, Name, NodeLink, Place, Sources, State, Value, roleState } from './parts';
import { TroubleList } from './problems';
import { Points } from './points';
import { Protection } from './protection';
import { ProxyAt } from './proxies';
import { Requests } from './requests';
import { ruleLink, viewLink } from './route';
import { isIdle } from './rows';
import { type Column, Head, sorted } from './sort';
import { block, flow, kindName, nodeID, objectName, originText, sameObject, sourceName, targetName } from './text';
import type { Effective, Loss, PolicyUse, Ref, Rule } from './types';
import { via } from './via';

/** Everything about one target: what is in force there, from where and why, and what was overridden. */
export function RuleView(): JSX.Element {
  const { doc, route } = usePage();
  const [kind = '', namespace = '', name = '', section] = route.path;
  const asked = { kind, name, ...(namespace && { namespace }), ...(section !== undefined && { section }) };
  const items = doc.itemsAt(asked);
  const targets = doc.targets(asked);
  if (items.length === 0 && targets.length === 0) return <Unknown what={targetName({ group: '', ...asked })} search={name} />;
  const target = items[0]?.target ?? targets[0]!;
  const road = items.length > 0 && items.every((i) => i.paths === items[0]!.paths) ? via(items[0]!.paths, target) : '';
  const whole: Ref = { group: target.group, kind: target.kind, name: target.name, ...(target.namespace && { namespace: target.namespace }) };
  const troubles = doc.troublesOf(target);
  return (
    <>
      <p class="crumbs"><a href="#/rules">Rules</a> / <a href={viewLink('rules', { q: objectName(target).toLowerCase() })}>{objectName(target)}</a></p>
      <Heading><span class="name">{targetName(target)}</span></Heading>
      <p class="facts">
        {road && <span>via {road}</span>}
        <span>{target.section && <NodeLink of={target} text="in the picture" />}{!target.section && <NodeLink of={whole} text="in the picture" />}</span>
        <Copy label="Copy link" text={() => location.href} />
      </p>
      <Siblings of={whole} section={target.section ?? ''} />
      <ProxyAt target={target} />
      {items.length === 0 && <Nothing on={target} />}
      {items.map((item) => <Kind key={item.policyKind + item.id + via(item.paths, target)} item={item} apart={road === ''} />)}
      {target.section && <Protection rule={target} />}
      {target.section && <Requests rule={target} />}
      {target.section && <Points rule={target} />}
      {troubles.length > 0 && <section><h2>Problems</h2><TroubleList all={troubles} /></section>}
    </>
  );
}

/** Why there is nothing to tell about a target. */
function Nothing({ on }: { on: Ref }): JSX.Element {
  const { doc } = usePage();
  if (!doc.isBare(on)) return <p>No policy applies here directly: no traffic comes here, or policies apply to the parts of this object or to the routes that it delegates to.</p>;
  return <p><State of="bare" /> {doc.complete ? 'No policy is in force here.' : 'Cannot tell whether a policy is in force here: the report is not complete.'}</p>;
}

/** The other rules of the same route, to step through. */
function Siblings({ of, section }: { of: Ref; section: string }): JSX.Element | null {
  const { doc } = usePage();
  const others = (doc.node(nodeID(of))?.to ?? []).filter((e) => e.kind === 'parent').map((e) => doc.nodeRef(e.to)).filter((r) => r !== undefined && r.name === of.name && r.section);
  if (others.length < 2 || others.length > 60) return null;
  return (
    <nav class="siblings" aria-label="Rules of this route">
      {others.map((r) => <a key={r!.section} class="name" href={ruleLink(r!)} aria-current={r!.section === section ? 'page' : undefined}>{r!.section}</a>)}
    </nav>
  );
}

/** A setting in force, with its place in the order; or one that was overridden. */
interface Setting {
  name: string;
  value: unknown;
  summary: string | undefined;
  from: string;
  why: string;
  origin: string;
}

const COLUMNS: Column<Setting>[] = [
  { id: 'setting', text: 'Setting', key: (s) => s.name },
  { id: 'value', text: 'Value', key: (s) => s.summary ?? flow(s.value, 80) },
  { id: 'from', text: 'From', key: (s) => s.from },
  { id: 'why', text: 'Why', key: (s) => s.why },
  { id: 'origin', text: 'Written in', key: (s) => s.origin },
];

function inForce(item: Effective): (Setting & { rule: Rule })[] {
  return item.rules.map((rule, i) => ({
    rule, name: (item.ordered ? `${i + 1}. ` : '') + rule.name, value: rule.value, summary: rule.summary, why: rule.why,
    from: rule.sources.map(sourceName).join(' '), origin: rule.sources.map((s) => originText(s.origin)).join(' '),
  }));
}

function lossOf({ rule, loss }: { rule: string; loss: Loss }): Setting & { loss: Loss } {
  return { loss, name: rule, value: loss.value, summary: loss.summary, from: sourceName(loss), why: loss.why, origin: originText(loss.origin) };
}

function Kind({ item, apart }: { item: Effective; apart: boolean }): JSX.Element {
  const [sort, setSort] = useState('');
  const lost: { rule: string; loss: Loss }[] = [];
  for (const rule of item.rules) for (const loss of rule.lost) lost.push({ rule: rule.name, loss });
  for (const loss of item.lost) lost.push({ rule: loss.rule, loss });
  return (
    <section class="kind">
      <h2>{kindName(item.policyKind)} {apart && <span class="via">via {via(item.paths, item.target)}</span>}</h2>
      {item.unread && <p class="note warn">What could not be read may change this: {item.unread.join(', ')}</p>}
      {item.rules.length === 0 && <p class="nothing"><State of="bare" word="nothing in force" /></p>}
      <div class="scroll" role="region" aria-label={`${kindName(item.policyKind)}: what is in force, and what was overridden`} tabIndex={0}>
        <table class="settings">
          <Head columns={COLUMNS} sort={sort} change={setSort} />
          <tbody>
            {sorted(inForce(item), sort, COLUMNS).map(({ rule: r, name }) => (
              <tr key={name}>
                <th scope="row"><State of="effective" word="" /><span class="offscreen">in force: </span><Name of={name} /></th>
                <td><Value of={r.value} summary={r.summary} /></td>
                <td><Sources all={r.sources} policyKind={item.policyKind} /></td>
                <td>{r.why}{r.sources.map((s, j) => s.condition && <div key={j} class="condition">when <code>{s.condition}</code></div>)}</td>
                <td>{r.sources.map((s, j) => <div key={j}><Place origin={s.origin} /></div>)}</td>
              </tr>
            ))}
          </tbody>
          {lost.length > 0 && <Losses all={sorted(lost.map(lossOf), sort, COLUMNS)} item={item} />}
        </table>
      </div>
      <Stack item={item} />
    </section>
  );
}

function Losses({ all, item }: { all: { name: string; loss: Loss }[]; item: Effective }): JSX.Element {
  return (
    <tbody class="lost">
      {all.map(({ name, loss }, i) => (
        <tr key={`${name} ${i}`}>
          <th scope="row"><State of={isIdle(loss) ? 'idle' : 'overridden'} word="" /><span class="offscreen">{isIdle(loss) ? 'not applied: ' : 'overridden: '}</span><Name of={name} /></th>
          <td><Value of={loss.value} summary={loss.summary} /></td>
          <td><From source={loss} policyKind={item.policyKind} /></td>
          <td>{isIdle(loss) ? <span class="state idle">condition false</span> : <><span class="state overridden">overridden</span>, {loss.why}</>}<div class="dim">{loss.message}</div></td>
          <td><Place origin={loss.origin} /></td>
        </tr>
      ))}
    </tbody>
  );
}

/** What became of a policy of the stack. One that nobody overrides has a condition that is false. */
function stackState(use: PolicyUse, item: Effective): string {
  const own = [...item.lost, ...item.rules.flatMap((r) => r.lost)].filter((l) => l.policy && use.policy && sameObject(l.policy, use.policy));
  return use.role === 'lost' && own.length > 0 && own.every(isIdle) ? 'idle' : roleState(use.role);
}

function Stack({ item }: { item: Effective }): JSX.Element {
  const { printing } = usePage();
  return (
    <>
      <details class="stack" open={printing || undefined}>
        <summary>{item.policies.length === 1 ? 'The only policy' : `The ${item.policies.length} policies`} on the way here{item.policies.length > 1 && ', least specific first'}</summary>
        <ol>
          {item.policies.map((use, i) => (
            <li key={i}>
              <State of={stackState(use, item)} /> {use.policy ? <From source={use} policyKind={item.policyKind} /> : sourceName(use)}
              <span class="dim"> on </span><span class="name">{targetName(use.target)}</span>
              {use.strategy && <span class="dim"> · {use.strategy}</span>} <Place origin={use.origin} />
            </li>
          ))}
        </ol>
      </details>
      {item.spec !== undefined && (
        <details class="spec" open={printing || undefined}>
          <summary>The effective spec</summary>
          <Copy label="Copy as YAML" text={() => block(item.spec) + '\n'} />
          <pre tabIndex={0} aria-label="The effective spec as YAML">{block(item.spec)}</pre>
        </details>
      )}
    </>
  );
}

/** What is said about a place that the report does not have. */
export function Unknown({ what, search }: { what: string; search: string }): JSX.Element {
  return (
    <>
      <Heading>Not in this report</Heading>
      <p>This report has no <span class="name">{what || 'such place'}</span>. The link may be from a report of another state of the input.</p>
      <p>{search && <><a href={viewLink('rules', { q: search.toLowerCase() })}>Search the rules for “{search}”</a> or </>}<a href="#/">go to the overview</a>.</p>
    </>
  );
}


import type { JSX } from 'preact';
import { usePage } from './context';
import type { Doc } from './doc';
import { Name, NodeLink } from './parts';
import { targetName } from './text';
import type { Judged, Path, Ref, RuleProtection } from './types';
import { via } from './via';

/** spaced is a word of several, written as one, in small letters: AnonymousAllowed is "anonymous allowed". */
function spaced(word: string): string {
  return word.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
}

/** judgedText says in a few words whether a property holds: "jwt", "no (anonymous allowed)", "depends (external decision)". */
export function judgedText(of: Judged): string {
  const codes = [...new Set((of.because ?? []).map((b) => b.code).filter((c) => c !== 'NoGate'))].map(spaced).join(', ');
  const why = codes && ` (${codes})`;
  if (of.verdict === 'holds') return (of.methods?.join(', ') || 'yes') + why;
  if (of.verdict === 'notApplicable') return 'not applicable';
  return (of.verdict === 'fails' ? 'no' : of.verdict) + why;
}

/** isSet is whether something is known that bears on a property: what is not read may bear on all of them. */
function isSet(of: Judged): boolean {
  return of.verdict === 'holds' || (of.because ?? []).some((b) => b.code !== 'NoGate' && b.code !== 'NotRead');
}

const STATES: Record<string, [state: string, sign: string]> = { holds: ['effective', '✓'], fails: ['overridden', '✕'], depends: ['partial', '?'] };

function Judgement({ property, of }: { property: string; of: Judged }): JSX.Element {
  const quiet = of.verdict === 'fails' && !isSet(of) && property !== 'authentication'; // nobody set it, and few want it everywhere
  const [state, sign] = (!quiet && Object.hasOwn(STATES, of.verdict) && STATES[of.verdict]) || ['ignored', '–'];
  return <span class={`state ${state}`}><span aria-hidden="true">{sign}</span> {judgedText(of)}</span>;
}

/** The properties that are told of a rule in a table: authentication, and what something bears on. */
function told(of: RuleProtection): [property: string, judged: Judged][] {
  return Object.entries(of.protection).filter(([property, judged]) => property === 'authentication' || isSet(judged));
}

/** protectionText is what a table says of a rule, to sort by. */
export function protectionText(doc: Doc, rule: Ref): string {
  return doc.protectionAt(rule).flatMap(told).map(([property, judged]) => `${property} ${judgedText(judged)}`).join(' ');
}

/** What requests to a rule are protected by, for a cell of a table: what holds on all paths, and on which paths if they differ. */
export function ProtectionCell({ rule }: { rule: Ref }): JSX.Element {
  const { doc } = usePage();
  const all = doc.protectionAt(rule);
  const lines = new Map<string, { property: string; judged: Judged; roads: Path[] }>();
  for (const one of all) {
    for (const [property, judged] of told(one)) {
      const key = `${property} ${judgedText(judged)}`;
      const known = lines.get(key);
      if (known) known.roads.push(...one.paths);
      else lines.set(key, { property, judged, roads: [...one.paths] });
    }
  }
  const differ = (property: string): boolean => [...lines.values()].filter((l) => l.property === property).length > 1;
  return (
    <ul class="plain protection">
      {[...lines].map(([key, { property, judged, roads }]) => (
        <li key={key}>
          <span class="dim">{property}: </span><Judgement property={property} of={judged} />
          {differ(property) && <span class="dim"> via <span class="name">{via(roads, rule, 3, true)}</span></span>}
        </li>
      ))}
    </ul>
  );
}

/** What requests to a rule are protected by, with the settings and the reasons. */
export function Protection({ rule }: { rule: Ref }): JSX.Element | null {
  const { doc } = usePage();
  const all = doc.protectionAt(rule);
  if (all.length === 0) return null;
  return (
    <section class="kind protection">
      <h2>How requests are protected</h2>
      {all.map((one, i) => (
        <div key={i} class="scroll" role="region" aria-label={`How requests are protected via ${via(one.paths, rule)}`} tabIndex={0}>
          {all.length > 1 && <p class="via">via {via(one.paths, rule)}</p>}
          <table class="settings">
            <thead><tr><th scope="col">Property</th><th scope="col">Holds</th><th scope="col">By</th><th scope="col">Why</th></tr></thead>
            <tbody>{Object.entries(one.protection).map(([property, judged]) => <Line key={property} property={property} of={judged} />)}</tbody>
          </table>
        </div>
      ))}
    </section>
  );
}

function Line({ property, of }: { property: string; of: Judged }): JSX.Element {
  return (
    <tr>
      <th scope="row"><Name of={property} /></th>
      <td><Judgement property={property} of={of} /></td>
      <td>{of.by?.map((u, i) => <div key={i}><Name of={u.field ?? ''} /> <NodeLink of={u.object} text={targetName(u.object)} /></div>)}</td>
      <td>{of.because?.map((b, i) => <div key={i}>{b.message}</div>)}</td>
    </tr>
  );
}

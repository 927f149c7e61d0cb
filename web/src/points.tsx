import type { JSX } from 'preact';
import { usePage } from './context';
import { NodeLink, Place } from './parts';
import { targetName } from './text';
import type { PathPoint, Ref } from './types';

/** What a point decides: the state whose colour the word has, and a sign. */
const VERDICTS: Record<string, [state: string, sign: string]> = {
  allowed: ['effective', '✓'], denied: ['overridden', '✕'], depends: ['partial', '?'], bypassed: ['ignored', '◌'],
};

function Verdict({ of }: { of: string }): JSX.Element {
  const [state, sign] = Object.hasOwn(VERDICTS, of) ? VERDICTS[of]! : ['unknown', '?'];
  return <span class={`state ${state}`}><span aria-hidden="true">{sign}</span> {of}</span>;
}

/** The points that one request passes which a rule takes, or passes by: where behind its Gateway policies may deny it. */
export function Points({ rule }: { rule: Ref }): JSX.Element | null {
  const { doc } = usePage();
  const [found] = doc.classesAt(rule);
  const path = found?.path ?? [];
  if (!found || path.length === 0) return null;
  return (
    <section class="points">
      <h2>What one of them passes</h2>
      <p><code>{found.example}</code>, without credentials: <Verdict of={found.verdict ?? ''} /></p>
      <ol class="points">{placed(path).map((p, i) => <Point key={i} {...p} />)}</ol>
    </section>
  );
}

/** A point with where it stands among the others. */
interface Placed {
  of: PathPoint;
  first: boolean; // of one of several ways
  stopped: boolean; // a point before it denies the request: it is judged as if the request had come so far
}

const ORDER = ['edge', 'client', 'egress', 'ingress', 'waypoint', 'workload'];

/** placed follows the ways: those of a request with several backends or workloads stand one after the other. */
function placed(path: PathPoint[]): Placed[] {
  let denied = false; // on the way that the points are on
  let before = false; // where the ways part
  return path.map((of, i) => {
    const last = path[i - 1];
    const first = of.backend !== undefined && (!last?.backend || targetName(last.backend) !== targetName(of.backend) || isEnd(last, of));
    if (first) denied = before;
    const stopped = denied;
    denied ||= of.verdict === 'denied';
    if (!of.backend) before = denied;
    return { of, first, stopped };
  });
}

/** isEnd is whether the next point is on another way to the same backend. Only behind a waypoint that is passed does a way begin again with the network. */
function isEnd(last: PathPoint, next: PathPoint): boolean {
  return ORDER.indexOf(next.point) <= ORDER.indexOf(last.point) && (last.point !== 'waypoint' || last.verdict === 'bypassed');
}

function Point({ of, first, stopped }: Placed): JSX.Element {
  const enforcer = of.kind === of.point || of.kind === of.object.kind ? '' : of.kind;
  return (
    <li class={`${Object.hasOwn(VERDICTS, of.verdict) ? of.verdict : ''} ${stopped ? 'stopped' : ''}`.trim() || undefined}>
      {first && of.backend && <div class="way">to <NodeLink of={whole(of.backend)} text={targetName(of.backend)} /></div>}
      <strong>{of.point}</strong>{enforcer && <span class="dim"> {enforcer}</span>}{' '}
      <NodeLink of={of.object} />{' '}
      <Verdict of={of.verdict} />
      {stopped && of.verdict !== 'bypassed' && <span class="dim"> if the request came so far</span>}
      <div>{of.because}</div>
      {of.policies.length > 0 && <div><span class="dim">{of.verdict === 'bypassed' ? 'in force for other traffic: ' : 'policies: '}</span>{of.policies.map((p, i) => <>{i > 0 && ', '}<NodeLink of={p} /></>)}</div>}
      {(of.identity !== undefined || of.port !== undefined) && <div class="dim">{seen(of)}</div>}
      {of.by?.map((r, i) => <div key={i} class="dim">decided by <code>{r.rule}</code>{r.title && ` (${r.title})`} <Place origin={r.origin} /></div>)}
    </li>
  );
}

/** whole is a backend without its port, which has no place in the picture. */
function whole({ section: _, ...object }: Ref): Ref {
  return object;
}

/** seen is what a point sees of a request. */
function seen(of: PathPoint): string {
  const parts = [
    of.identity === undefined ? '' : of.identity === '' ? 'it comes without identity' : `it comes as ${of.identity}`,
    of.port === undefined ? '' : `to port ${of.port}`,
  ];
  return parts.filter(Boolean).join(', ');
}

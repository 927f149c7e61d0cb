import type { JSX } from 'preact';
import { usePage } from './context';
import { Copy, NodeLink, State } from './parts';
import { counted } from './text';
import type { Ref, RuleClass } from './types';

/** The requests that a rule of a route takes, as classes that no rule tells apart, each with one that is of it. */
export function Requests({ rule }: { rule: Ref }): JSX.Element | null {
  const { doc } = usePage();
  const [found] = doc.classesAt(rule);
  const { undecided, leftOut } = doc.classesLack();
  const taken = found?.classes ?? [];
  if (!rule.kind.endsWith('Route') && taken.length === 0) return null;
  return (
    <section class="requests">
      <h2>Requests that it takes</h2>
      {taken.length === 0 && <p class="nothing">{undecided.length + leftOut.length > 0 || !doc.complete ? 'None is known.' : 'None: no request that comes to a Gateway.'}</p>}
      <ul class="plain">{taken.map((c, i) => <li key={i}><One of={c} /></li>)}</ul>
      {found?.more && <p class="note">and {counted(found.more, 'more class')} of requests; <code>kubectl dopolicy prove</code> looks at all</p>}
      {leftOut.length > 0 && <p class="note">Not looked at: {leftOut.join('; ')}</p>}
      {undecided.map((u) => <p key={u.why} class="note">Which rule takes {counted(u.classes, 'class')} of requests, such as {u.example}, is not known: {u.why}</p>)}
    </section>
  );
}

function One({ of }: { of: RuleClass }): JSX.Element {
  return (
    <>
      {of.unknown !== undefined && <><State of="unknown" word="perhaps" />{' '}</>}
      <span class="class">{of.class}</span>
      {of.listener && <span class="dim"> at <NodeLink of={of.listener} /></span>}
      <div><code>{of.command}</code> <Copy label="Copy" text={() => of.command} /></div>
      {of.unknown !== undefined && <div class="dim">not known: {of.unknown}</div>}
    </>
  );
}

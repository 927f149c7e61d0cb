import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { usePage } from './context';
import type { Fate } from './doc';
import { NodePanel } from './node';
import { Heading, NodeLink, Severity, Some, State } from './parts';
import { PanZoom } from './picture';
import { differs } from './proxies';
import { linksTo, light } from './light';
import { viewLink } from './route';
import { overriddenText } from './overridden';
import { counted, grouped, targetName } from './text';

/** The picture, and beside it the whole in short or the node that was chosen. */
export function Overview({ picture }: { picture: HTMLElement }): JSX.Element {
  const { route } = usePage();
  const chosen = route.view === 'node' ? route.path.join('/') : undefined;
  const drawn = picture.querySelector('svg');
  return (
    <>
      <Heading>Overview</Heading>
      <div class={`overview${drawn ? '' : ' plain-overview'}`}>
        {drawn ? <Picture picture={picture} svg={drawn} chosen={chosen} /> : <p class="note">{picture.textContent || 'There is no picture in this report.'}</p>}
        {chosen === undefined ? <Summary /> : <NodePanel key={chosen} id={chosen} />}
      </div>
    </>
  );
}

const HELP = 'Choose a policy, a box or a row. Drag or arrow keys move, + and − or the wheel zoom, 0 fits.';

function Picture({ picture, svg, chosen }: { picture: HTMLElement; svg: SVGSVGElement; chosen: string | undefined }): JSX.Element {
  const { doc, printing } = usePage();
  const box = useRef<HTMLDivElement>(null);
  const zoom = useRef<PanZoom | undefined>(undefined);
  const [percent, setPercent] = useState(100);
  useLayoutEffect(() => {
    box.current!.append(picture);
    svg.setAttribute('role', 'group'); // an image would hide its links
    zoom.current = new PanZoom(box.current!, svg, setPercent);
    return () => picture.remove();
  }, [picture]);
  useLayoutEffect(() => (printing ? zoom.current?.print() : undefined), [printing]);
  useEffect(() => {
    if (chosen === undefined) return;
    const ref = doc.nodeRef(chosen);
    const links = linksTo(svg, chosen, ref && doc.drawnAs(ref));
    const dark = light(svg, doc, chosen);
    for (const a of links) {
      a.classList.add('chosen');
      a.setAttribute('aria-current', 'true');
    }
    if (links[0]) zoom.current?.reveal(links[0]);
    return () => {
      dark();
      for (const a of links) {
        a.classList.remove('chosen');
        a.removeAttribute('aria-current');
      }
    };
  }, [chosen]);
  return (
    <section class="drawing" aria-label="The topology as a picture">
      <div class="tools">
        <button type="button" aria-label="Zoom in" onClick={() => zoom.current?.in()}>+</button>
        <button type="button" aria-label="Zoom out" onClick={() => zoom.current?.out()}>−</button>
        <button type="button" onClick={() => zoom.current?.fit()}>Fit</button>
        <span class="dim percent">{percent} %</span>
        <span class="help">{HELP}</span>
        <a class="skip" href="#panel" onClick={toPanel}>Skip the picture</a>
      </div>
      <div class="canvas" ref={box} tabIndex={0} role="group" aria-label={`Picture. ${HELP}`} aria-keyshortcuts="ArrowLeft ArrowRight ArrowUp ArrowDown + - 0" />
    </section>
  );
}

function toPanel(e: Event): void {
  e.preventDefault();
  document.getElementById('panel')?.focus();
}

/** The whole in short: what needs a look first, then what became of every policy. */
function Summary(): JSX.Element {
  const { doc, rows, late } = usePage();
  const [fates, setFates] = useState<Fate[]>();
  useEffect(() => {
    if (!late) return;
    const soon = setTimeout(() => setFates(doc.policies()));
    return () => clearTimeout(soon);
  }, [late]);
  const troubles = late ? doc.troubleCounts() : undefined;
  const others = rows.filled() - rows.rules();
  const bare = late ? doc.bareRules().length : 0;
  const otherwise = late ? doc.compared().filter(differs).length : 0;
  return (
    <aside class="panel" aria-labelledby="panel">
      <h2 id="panel" tabIndex={-1}>In short</h2>
      <ul class="plain facts-list">
        {['error', 'warning', 'info'].map((severity) => {
          const n = troubles?.get(severity) ?? 0;
          return n > 0 && <li key={severity}><Severity of={severity} word="" /><a href={viewLink('problems', { severity })}>{severity === 'info' ? counted(n, 'note') : counted(n, severity)}</a></li>;
        })}
        {troubles?.size === 0 && <li>no problems</li>}
        {otherwise > 0 && <li><span class="state overridden" aria-hidden="true">≠ </span><a href={viewLink('proxies', { verdict: 'differs' })}>{counted(otherwise, 'difference')}</a> between the proxies and the policies</li>}
        {late && otherwise === 0 && doc.compared().some((c) => c.verdict === 'Same') && <li><span class="state effective" aria-hidden="true">✓ </span><a href="#/proxies">proxies</a> do what the policies ask for, as far as it can be compared</li>}
        {doc.overridden.length > 0 && <li><State of="overridden" word="" /><a href="#/overridden">{overriddenText(doc)}</a></li>}
        {bare > 0 && <li><State of="bare" word="" /><a href={viewLink('rules', { show: 'bare' })}>{counted(bare, 'rule')}</a> with no policy in force</li>}
        <li><State of="effective" word="" /><a href="#/rules">{others === 0 ? counted(rows.rules(), 'rule') : `${counted(rows.rules(), 'rule')} and ${counted(others, 'other target')}`}</a> with policies <span class="dim">({counted(rows.pairCount(), others === 0 ? 'rule and policy-kind pair' : 'target and policy-kind pair')})</span></li>
      </ul>
      {fates && <Policies all={fates} />}
    </aside>
  );
}

const ORDER: Fate['state'][] = ['dangling', 'unknown', 'overridden', 'idle', 'partial', 'effective'];

function Policies({ all }: { all: Fate[] }): JSX.Element {
  return (
    <>
      <h3>{counted(all.length, 'policy')}</h3>
      <p class="dim">Counts are rules (or other targets) where the policy is ● in force, ◐ partly in force, ○ overridden{all.some((f) => f.idle > 0) && ', ⊘ not applied (condition false)'}</p>
      {ORDER.map((state) => {
        const same = all.filter((f) => f.state === state);
        return same.length > 0 && (
          <section key={state} class="fates">
            <h4><State of={state} word={WORDS[state]} /> <span class="dim">{grouped(same.length)}</span></h4>
            <Some of={same} most={20} noun="policy" each={(f) => <><NodeLink of={f.policy} text={targetName(f.policy)} /> <span class="dim">{share(f)}</span></>} />
          </section>
        );
      })}
    </>
  );
}

const WORDS: Record<Fate['state'], string> = {
  dangling: 'target not found', unknown: 'applies to nothing', overridden: 'not in force anywhere', idle: 'condition false', partial: 'partly in force', effective: 'in force on all their rules',
};

function share(f: Fate): string {
  const all = f.effective + f.partial + f.overridden + f.idle;
  if (all === 0) return '';
  const parts = [f.effective > 0 && `● ${grouped(f.effective)}`, f.partial > 0 && `◐ ${grouped(f.partial)}`, f.overridden > 0 && `○ ${grouped(f.overridden)}`, f.idle > 0 && `⊘ ${grouped(f.idle)}`];
  return parts.filter(Boolean).join(' ');
}

import type { Doc, Reach } from './doc';
import { nodeLink } from './route';

const SPACE = 'http://www.w3.org/2000/svg';

/** What a state looks like in the picture: a sign, and words for those who do not see it. */
const SIGNS: Record<Reach['state'], { sign: string; word: string }> = {
  effective: { sign: '●', word: 'in force here' },
  partial: { sign: '◐', word: 'partly in force here' },
  overridden: { sign: '○', word: 'overridden here' },
  idle: { sign: '⊘', word: 'condition false here' },
};

/** linksTo is what a picture draws for a node: its links. A smaller picture draws an object for its parts, and one node for several that look alike. */
export function linksTo(svg: SVGSVGElement, id: string, instead?: string): SVGAElement[] {
  for (const drawn of [id, id.replace(/#[^#]*$/, ''), instead]) {
    if (drawn === undefined) continue;
    const href = nodeLink(drawn);
    const links = [...svg.querySelectorAll<SVGAElement>('a')].filter((a) => a.getAttribute('href') === href);
    if (links.length > 0) return links;
  }
  return [];
}

/** light frames where a policy is in force, partly in force and overridden, each in its own way, and dims the rest. It returns how to undo that. */
export function light(svg: SVGSVGElement, doc: Doc, policy: string): () => void {
  const states = new Map<SVGAElement, Reach['state']>();
  for (const [id, reach] of doc.reachOf(policy).byNode) {
    for (const link of linksTo(svg, id, doc.drawnAs(reach.target))) {
      const known = states.get(link);
      states.set(link, known && known !== reach.state ? 'partial' : reach.state); // one box for several rules
    }
  }
  if (states.size === 0) return () => undefined;
  const added: Element[] = [];
  for (const [link, state] of states) {
    const box = link.getBBox();
    const frame = document.createElementNS(SPACE, 'rect');
    frame.setAttribute('class', `lit-frame lit-${state}`);
    for (const [name, value] of Object.entries({ x: box.x - 2, y: box.y - 2, width: box.width + 4, height: box.height + 4, rx: 2 })) frame.setAttribute(name, String(value));
    const sign = document.createElementNS(SPACE, 'text');
    sign.setAttribute('class', `lit-sign lit-${state}`);
    for (const [name, value] of Object.entries({ x: box.x + box.width - 2, y: box.y + 10, 'text-anchor': 'end', 'font-size': 11, 'aria-hidden': true })) sign.setAttribute(name, String(value));
    sign.textContent = SIGNS[state].sign;
    link.prepend(frame);
    link.append(sign);
    link.setAttribute('aria-description', SIGNS[state].word);
    added.push(frame, sign);
  }
  const shown = new Set<Element>([...states.keys(), ...linksTo(svg, policy)].flatMap((a) => a.closest('g.node') ?? []));
  const dimmed = [...svg.querySelectorAll('g.node, g.edge')].filter((g) => !shown.has(g) && !isLineOf(g, policy));
  for (const g of dimmed) g.classList.add('unlit');
  return () => {
    for (const e of added) e.remove();
    for (const link of states.keys()) link.removeAttribute('aria-description');
    for (const g of dimmed) g.classList.remove('unlit');
  };
}

/** isLineOf is whether a line begins at a policy. */
function isLineOf(g: Element, policy: string): boolean {
  return g.id.startsWith(`e-n-${policy}--`);
}

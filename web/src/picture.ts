/** A part of the picture, in its own units. */
interface Frame {
  x: number;
  y: number;
  w: number;
  h: number;
}

const STEP = 1.25; // of a button or a key
const MOST = 12; // times the size at which everything fits
const CLICK = 4; // pixels that a pointer may move and still mean a click

/**
 * PanZoom shows a part of an SVG picture, and moves it: by drag, two fingers, wheel, keys and what the page calls. It changes nothing but the
 * picture's viewBox. What can be followed in the picture stays links of the page.
 */
export class PanZoom {
  private readonly whole: Frame;
  private now: Frame;
  private readonly pointers = new Map<number, { x: number; y: number }>();
  private moved = 0;

  constructor(private readonly box: HTMLElement, private readonly svg: SVGSVGElement, private readonly changed: (percent: number) => void) {
    const { x, y, width, height } = svg.viewBox.baseVal;
    this.whole = { x, y, w: width || 1, h: height || 1 };
    this.now = { ...this.whole };
    svg.removeAttribute('width');
    svg.removeAttribute('height');
    box.style.aspectRatio = String(Math.min(Math.max(this.whole.w / this.whole.h, 0.5), 4)); // no taller than it needs to be
    box.addEventListener('wheel', this.wheel, { passive: false });
    box.addEventListener('keydown', this.key);
    box.addEventListener('pointerdown', this.down);
    box.addEventListener('pointermove', this.move);
    for (const end of ['pointerup', 'pointercancel'] as const) box.addEventListener(end, this.up);
    box.addEventListener('click', this.click, { capture: true });
    box.addEventListener('dragstart', (e) => e.preventDefault());
    box.addEventListener('focusin', this.follow);
    this.fit();
  }

  /** fit shows everything. */
  fit(): void {
    this.show(this.whole);
  }

  zoom(by: number, at?: { x: number; y: number }): void {
    const { x, y, w, h } = this.now;
    const size = Math.min(Math.max(w / by, this.whole.w / MOST), this.whole.w * 2) / w;
    const fixed = at ?? { x: x + w / 2, y: y + h / 2 };
    this.show({ x: fixed.x - (fixed.x - x) * size, y: fixed.y - (fixed.y - y) * size, w: w * size, h: h * size });
  }

  in(): void {
    this.zoom(STEP);
  }

  out(): void {
    this.zoom(1 / STEP);
  }

  /** reveal moves the picture so that an element of it is seen. */
  reveal(element: Element): void {
    const e = element.getBoundingClientRect();
    const b = this.box.getBoundingClientRect();
    if (e.width === 0 || (e.left >= b.left && e.right <= b.right && e.top >= b.top && e.bottom <= b.bottom)) return;
    this.pan((b.left + b.right - e.left - e.right) / 2, (b.top + b.bottom - e.top - e.bottom) / 2);
  }

  /** print shows everything until it is told that printing is over. */
  print(): () => void {
    const before = this.now;
    this.fit();
    return () => this.show(before);
  }

  private show(frame: Frame): void {
    // some of the picture stays in sight
    const x = Math.min(Math.max(frame.x, this.whole.x - frame.w * 0.9), this.whole.x + this.whole.w - frame.w * 0.1);
    const y = Math.min(Math.max(frame.y, this.whole.y - frame.h * 0.9), this.whole.y + this.whole.h - frame.h * 0.1);
    this.now = { ...frame, x, y };
    this.svg.setAttribute('viewBox', `${x} ${y} ${frame.w} ${frame.h}`);
    this.changed(Math.round((100 * this.whole.w) / frame.w));
  }

  /** unit is how many units of the picture a pixel is. */
  private unit(): number {
    const r = this.svg.getBoundingClientRect();
    return Math.max(this.now.w / (r.width || 1), this.now.h / (r.height || 1));
  }

  private pan(dx: number, dy: number): void {
    const unit = this.unit();
    this.show({ ...this.now, x: this.now.x - dx * unit, y: this.now.y - dy * unit });
  }

  private place(clientX: number, clientY: number): { x: number; y: number } {
    const r = this.svg.getBoundingClientRect();
    const unit = this.unit();
    return {
      x: this.now.x + this.now.w / 2 + (clientX - r.left - r.width / 2) * unit,
      y: this.now.y + this.now.h / 2 + (clientY - r.top - r.height / 2) * unit,
    };
  }

  private readonly wheel = (e: WheelEvent): void => {
    if (!e.ctrlKey && !e.metaKey && !this.box.contains(document.activeElement)) return;
    e.preventDefault();
    const lines = e.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    this.zoom(Math.exp((-e.deltaY * lines) / (e.ctrlKey ? 200 : 500)), this.place(e.clientX, e.clientY));
  };

  private readonly key = (e: KeyboardEvent): void => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const far = 60;
    const act: Record<string, () => void> = {
      ArrowLeft: () => this.pan(far, 0),
      ArrowRight: () => this.pan(-far, 0),
      ArrowUp: () => this.pan(0, far),
      ArrowDown: () => this.pan(0, -far),
      '+': () => this.in(),
      '=': () => this.in(),
      '-': () => this.out(),
      '0': () => this.fit(),
    };
    if (!Object.hasOwn(act, e.key)) return;
    e.preventDefault();
    act[e.key]!();
  };

  private readonly down = (e: PointerEvent): void => {
    if (e.button !== 0 || (e.target as Element).closest('button')) return;
    if (this.pointers.size === 0) this.moved = 0;
    this.pointers.set(e.pointerId, { x: e.clientX, y: e.clientY });
  };

  private readonly move = (e: PointerEvent): void => {
    const before = this.pointers.get(e.pointerId);
    if (!before) return;
    if (e.pointerType === 'mouse' && e.buttons === 0) {
      this.up(e);
      return;
    }
    const after = { x: e.clientX, y: e.clientY };
    const other = [...this.pointers].find(([id]) => id !== e.pointerId)?.[1];
    this.pointers.set(e.pointerId, after);
    this.moved += Math.abs(after.x - before.x) + Math.abs(after.y - before.y);
    if (this.moved > CLICK && !this.box.hasPointerCapture(e.pointerId)) this.box.setPointerCapture(e.pointerId);
    if (!other) {
      this.pan(after.x - before.x, after.y - before.y);
      return;
    }
    const apart = (p: { x: number; y: number }): number => Math.hypot(p.x - other.x, p.y - other.y) || 1;
    const middle = this.place((after.x + other.x) / 2, (after.y + other.y) / 2);
    this.zoom(apart(after) / apart(before), middle);
    this.pan((after.x - before.x) / 2, (after.y - before.y) / 2);
  };

  private readonly up = (e: PointerEvent): void => {
    this.pointers.delete(e.pointerId);
  };

  /** A drag that ends on a link does not follow it. A click beside the letters of a link follows the smallest one around it. */
  private readonly click = (e: MouseEvent): void => {
    if (this.moved > CLICK) {
      this.moved = 0;
      e.preventDefault();
      e.stopPropagation();
    } else if (!(e.target as Element).closest('a')) {
      const to = this.linkAt(e.clientX, e.clientY)?.getAttribute('href');
      if (to?.startsWith('#')) location.hash = to;
    }
  };

  private linkAt(x: number, y: number): Element | undefined {
    let found: { link: Element; size: number } | undefined;
    for (const link of this.svg.querySelectorAll('a')) {
      const r = link.getBoundingClientRect();
      const size = r.width * r.height;
      if (x >= r.left && x <= r.right && y >= r.top && y <= r.bottom && (!found || size < found.size)) found = { link, size };
    }
    return found?.link;
  }

  private readonly follow = (e: FocusEvent): void => {
    if (e.target instanceof Element && e.target !== this.box && e.target.matches(':focus-visible')) this.reveal(e.target);
  };
}

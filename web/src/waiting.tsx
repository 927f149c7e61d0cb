import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { visible } from './visible';

/** What is seen of a large page while its document is unpacked: what it is about, and the picture. */
export function Waiting({ title, picture }: { title: string; picture: HTMLElement }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const svg = picture.querySelector('svg');
  useLayoutEffect(() => {
    if (!svg) return;
    box.current!.append(picture);
    return () => picture.remove();
  }, [picture]);
  return (
    <main id="main" class="waiting">
      <h1>{visible(title)}</h1>
      <p class="note" role="status">Reading the report…</p>
      {svg && <div class="canvas" ref={box} />}
    </main>
  );
}

/** painted waits until what was rendered can be seen. */
export function painted(): Promise<void> {
  return new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
}

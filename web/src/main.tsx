import { render } from 'preact';
import { App } from './app';
import { Doc } from './doc';
import type { Packed } from './pack';
import { Rows } from './rows';
import { showAll } from './visible';
import { Waiting, painted } from './waiting';

async function start(): Promise<void> {
  const app = document.getElementById('app')!;
  const picture = document.getElementById('picture') ?? document.createElement('div');
  picture.remove();
  try {
    const data = document.getElementById('data')!;
    const packed = data.dataset['encoding'] === 'gzip';
    if (packed) {
      render(<Waiting title={document.title} picture={picture} />, app);
      await painted();
    }
    const doc = new Doc(JSON.parse(await written(data, packed)) as Packed);
    data.remove();
    const rows = new Rows(doc);
    render(null, app);
    render(<App doc={doc} rows={rows} picture={picture} />, app);
    warm(rows);
  } catch (error) {
    app.textContent = `This report cannot be shown: ${String(error)}`;
  }
}

/** written is the text of the document, which a large page holds compressed. */
async function written(data: HTMLElement, packed: boolean): Promise<string> {
  const text = data.textContent!;
  if (!packed) return text;
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).text();
}

/** The rows are made while nothing else is to be done, so that the first search has them. */
function warm(rows: Rows): void {
  const soon = window.requestIdleCallback ?? ((f: () => void) => setTimeout(f, 50));
  const some = (): void => {
    if (rows.warm(performance.now() + 8)) soon(some);
  };
  soon(some);
}

showAll();
void start();

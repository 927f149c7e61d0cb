import { render } from 'preact';
import { App } from './app';
import { Doc } from './doc';
import type { Packed } from './pack';
import { Rows } from './rows';

function start(): void {
  const app = document.getElementById('app')!;
  const picture = document.getElementById('picture') ?? document.createElement('div');
  picture.remove();
  try {
    const data = document.getElementById('data')!;
    const doc = new Doc(JSON.parse(data.textContent!) as Packed);
    data.remove();
    const rows = new Rows(doc);
    render(<App doc={doc} rows={rows} picture={picture} />, app);
    warm(rows);
  } catch (error) {
    app.textContent = `This report cannot be shown: ${String(error)}`;
  }
}

/** The rows are made while nothing else is to be done, so that the first search has them. */
function warm(rows: Rows): void {
  const soon = window.requestIdleCallback ?? ((f: () => void) => setTimeout(f, 50));
  const some = (): void => {
    if (rows.warm(performance.now() + 8)) soon(some);
  };
  soon(some);
}

start();

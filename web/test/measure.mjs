// Prints how long the page of a large report takes: until it is painted, beside an empty page with the same data, and until what is typed is
// found. Figures of a machine, not a test.
import { pathToFileURL } from 'node:url';
import { execFileSync } from 'node:child_process';
import { large } from './inputs.mjs';
import { file, launch, report, root, source } from './browser.mjs';

const RUNS = 7;
const median = (all) => all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)];

const href = report(large(1000), ...process.argv.slice(2));
const html = source(href);
const data = html.match(/<script type="application\/json" id="data">[\s\S]*?<\/script>/)[0];
const empty = pathToFileURL(file('empty.html', `<!doctype html><html lang="en"><meta charset="utf-8"><title>empty</title><p>empty</p>${data}</html>`)).href;
const browser = await launch();

/** painted is how long it takes from the start of loading until what `ready` finds is painted and the page is loaded, in ms. */
async function painted(address, ready) {
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  await page.addInitScript((selector) => {
    const done = () => document.readyState !== 'loading' && document.querySelector(selector) && requestAnimationFrame(() => setTimeout(() => { window.paintedAt ??= performance.now(); }));
    new MutationObserver(done).observe(document, { subtree: true, childList: true });
    addEventListener('DOMContentLoaded', done);
  }, ready);
  await page.goto(address);
  const ms = await (await page.waitForFunction(() => window.paintedAt)).jsonValue();
  await page.close();
  return ms;
}

// The same of a report that is compressed. Its empty page holds the data as they are in the page.
const packed = report(execFileSync('go', ['run', './internal/reportgen', '-own', '1'], { cwd: root, maxBuffer: 1 << 30 }).toString(), ...process.argv.slice(2));
const packedData = source(packed).match(/<script type="text\/plain" id="data"[\s\S]*?<\/script>/)[0];
const packedEmpty = pathToFileURL(file('packed.html', `<!doctype html><html lang="en"><meta charset="utf-8"><title>empty</title><p>empty</p>${packedData}</html>`)).href;

const times = { empty: [], overview: [], rules: [], 'empty, compressed': [], 'overview, compressed': [], 'all of it, compressed': [] };
for (let i = 0; i < RUNS; i++) {
  times.empty.push(await painted(empty, 'p'));
  times.overview.push(await painted(href, 'main h1'));
  times.rules.push(await painted(href + '#/rules', 'main tbody tr:nth-child(30)'));
  times['empty, compressed'].push(await painted(packedEmpty, 'p'));
  times['overview, compressed'].push(await painted(packed, 'main h1'));
  times['all of it, compressed'].push(await painted(packed, 'header .title'));
}
const at = Object.fromEntries(Object.entries(times).map(([name, all]) => [name, median(all)]));
console.log(`10,000 rules, ${(html.length / 1e6).toFixed(1)} MB, medians of ${RUNS}:`);
for (const [name, ms] of Object.entries(at)) {
  const empty = name.endsWith('compressed') ? 'empty, compressed' : 'empty';
  console.log(`  painted, ${name.padEnd(21)} ${ms.toFixed(0).padStart(5)} ms${name === empty ? '' : `   ${(ms / at[empty]).toFixed(2)} times the empty page`}`);
}

const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
await page.goto(href + '#/rules');
await page.waitForFunction(() => document.querySelectorAll('main tbody tr').length === 100);
const typed = await page.evaluate(async () => {
  const input = document.querySelector('input[type=search]');
  const found = [];
  for (const word of ['limits-970', 'step-3', 'gateway-cap', 'ns:team-7 own', 'route-1']) {
    for (let n = 1; n <= word.length; n++) {
      const from = performance.now();
      input.value = word.slice(0, n);
      input.dispatchEvent(new Event('input', { bubbles: true }));
      const changed = await new Promise((done) => {
        const watch = new MutationObserver(() => { watch.disconnect(); requestAnimationFrame(() => setTimeout(done, 0, true)); });
        watch.observe(document.querySelector('main'), { subtree: true, childList: true, characterData: true });
        setTimeout(done, 1000, false); // the same rows are found
      });
      if (changed) found.push(performance.now() - from);
    }
  }
  return found;
});
console.log(`  a key in the search, until its rows are painted: median ${median(typed).toFixed(0)} ms, longest ${Math.max(...typed).toFixed(0)} ms, 25 ms of it waiting for the next key`);
await browser.close();

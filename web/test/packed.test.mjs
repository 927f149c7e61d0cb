// The page of a report that is so large that its document is compressed.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import { launch, open, report, root, rows, source } from './browser.mjs';

let browser, href;
before(async () => {
  browser = await launch();
  href = report(execFileSync('go', ['run', './internal/reportgen', '-own', '1', '-routes', '3500'], { cwd: root, maxBuffer: 1 << 30 }).toString());
});
after(() => browser?.close());

test('it says what it is about before it is unpacked, and then everything', async (t) => {
  assert.match(source(href), /<script type="text\/plain" id="data" data-encoding="gzip">/);
  const page = await open(t, browser, href);
  assert.equal(await page.locator('main.waiting').count(), 0);
  assert.ok(await page.locator('main .canvas svg').isVisible());
  await page.locator('button', { hasText: '+' }).first().click();
  const wide = await page.locator('main .canvas svg').evaluate((svg) => svg.viewBox.baseVal.width);
  await page.locator('button', { hasText: 'Fit' }).click();
  assert.ok(wide < await page.locator('main .canvas svg').evaluate((svg) => svg.viewBox.baseVal.width));
});

test('a link to a search leads there', async (t) => {
  const page = await open(t, browser, href + '#/rules?q=shop-3499');
  const found = await rows(page);
  assert.ok(found.length > 0 && found.every((text) => text.includes('shop-3499')), found.join('\n'));
});

test('while it is unpacked there is a heading and the picture', async (t) => {
  const context = await browser.newContext({ offline: true });
  t.after(() => context.close());
  const page = await context.newPage();
  await page.addInitScript(() => {
    new MutationObserver(() => {
      const waiting = document.querySelector('main.waiting');
      if (waiting) window.seen = { heading: waiting.querySelector('h1').textContent, picture: waiting.querySelector('svg') !== null };
    }).observe(document, { subtree: true, childList: true });
  });
  await page.goto(href);
  await page.locator('header .title').waitFor();
  const seen = await page.evaluate(() => window.seen);
  assert.match(seen.heading, /^Gateway API policies of /);
  assert.equal(seen.picture, true);
});

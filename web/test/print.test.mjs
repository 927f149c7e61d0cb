import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { large } from './inputs.mjs';
import { demo, go, launch, open, report, rows, settled } from './browser.mjs';

let browser;
before(async () => { browser = await launch(); });
after(() => browser?.close());

const shown = (page, selector) => page.locator(selector).first().isVisible();

test('what is printed is light, without what is only to be clicked, and with everything opened', async (t) => {
  const page = await open(t, browser, report(demo) + '#/rule/HTTPRoute/bakery/baker/rule-1', { colorScheme: 'dark' });
  await page.getByLabel('Theme').first().selectOption('dark');
  await page.emulateMedia({ media: 'print' });
  await settled(page);
  assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor), 'rgb(255, 255, 255)');
  for (const selector of ['header nav', 'header select', '.copy', '.siblings', 'footer']) assert.equal(await shown(page, selector), false, selector);
  assert.equal(await shown(page, '.stack li'), true);
  await page.emulateMedia({ media: 'screen' });
  await settled(page);
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
  assert.equal(await shown(page, '.stack li'), false);
});

test('a long table is printed up to a number of rows, and says so', async (t) => {
  const page = await open(t, browser, report(large(250)) + '#/rules');
  await page.emulateMedia({ media: 'print' });
  await settled(page);
  assert.equal((await rows(page)).length, 2000);
  assert.match(await page.locator('main').innerText(), /The first 2 000 of 2 500 rows are printed/);
  await page.emulateMedia({ media: 'screen' });
  assert.equal((await rows(page)).length, 100);
  await go(page, '#/rules?q=route-7');
  await page.emulateMedia({ media: 'print' });
  assert.ok((await rows(page)).length > 100);
  assert.doesNotMatch(await page.locator('main').innerText(), /rows are printed/);
});

test('the browser makes a PDF of every view', async (t) => {
  const page = await open(t, browser, report(demo));
  for (const hash of ['#/', '#/rules', '#/overridden', '#/problems', '#/status']) {
    await go(page, hash);
    const pdf = await page.pdf({ format: 'A4' });
    const pages = pdf.toString('latin1').match(/\/Type\s*\/Page\b/g).length;
    assert.ok(pages >= 1 && pages < 12, `${hash}: ${pages} pages`);
  }
});

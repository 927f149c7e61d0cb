import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { demo, go, launch, node, open, report, rows, settled, source } from './browser.mjs';

let browser;
let href;
before(async () => {
  browser = await launch();
  href = report(demo);
});
after(() => browser?.close());

const column = async (page, n) => {
  await settled(page);
  return page.locator(`main table > tbody > tr > *:nth-child(${n})`).allInnerTexts();
};
const collator = new Intl.Collator('en', { numeric: true });

test('tables are sorted by their columns, with the keyboard too, and the address keeps it', async (t) => {
  const page = await open(t, browser, href + '#/rules');
  const all = await rows(page);
  const head = page.getByRole('columnheader', { name: 'Rule' });
  await head.getByRole('button').focus();
  await page.keyboard.press('Enter');
  const up = await column(page, 1);
  assert.equal(await head.getAttribute('aria-sort'), 'ascending');
  assert.deepEqual(up, [...up].sort(collator.compare));
  await page.keyboard.press('Space');
  const down = await column(page, 1);
  assert.equal(await head.getAttribute('aria-sort'), 'descending');
  assert.deepEqual(down, [...down].sort((a, b) => collator.compare(b, a)));
  assert.match(page.url(), /sort=-rule/);
  assert.equal(await page.evaluate(() => document.activeElement.className), 'sort');
  await page.reload();
  assert.deepEqual(await column(page, 1), down);
  await page.getByRole('searchbox').fill('cart');
  assert.ok((await rows(page)).length < all.length);
  assert.match(page.url(), /sort=-rule/);
  await page.getByRole('searchbox').fill('');
  await settled(page);
  await head.getByRole('button').click();
  assert.equal(await head.getAttribute('aria-sort'), null);
  assert.deepEqual(await rows(page), all);
});

test('every other table is sorted, too', async (t) => {
  const page = await open(t, browser, href);
  for (const [hash, name, n] of [['#/overridden', 'Setting', 2], ['#/problems', 'Code', 2], ['#/status', 'Object', 1], ['#/rule/HTTPRoute/bakery/baker/rule-2', 'Written in', 5]]) {
    await go(page, hash);
    const head = page.getByRole('columnheader', { name }).first();
    await head.getByRole('button').click();
    assert.equal(await head.getAttribute('aria-sort'), 'ascending', hash);
    if (hash.startsWith('#/rule/')) continue; // several tables
    const texts = (await column(page, n)).map((s) => s.split('\n')[0]);
    assert.ok(texts.length > 1, hash);
    assert.deepEqual(texts, [...texts].sort(collator.compare), hash);
  }
});

test('on a small screen the order is chosen from a list', async (t) => {
  const page = await open(t, browser, href + '#/rules', { viewport: { width: 420, height: 800 } });
  const before = await rows(page);
  await page.getByLabel('Order').first().selectOption('-lost');
  const after = await rows(page);
  assert.notDeepEqual(after, before);
  assert.match(after[0], /○ 3 overridden/);
});

test('values are shown in short, and whole on demand', async (t) => {
  const page = await open(t, browser, href + '#/rules?q=baker+kind:ratelimit');
  assert.match((await rows(page))[0], /limits\.cap\s+100 per 1s/);
  await go(page, '#/rule/HTTPRoute/bakery/baker/rule-1');
  const line = page.locator('section.kind', { hasText: 'RateLimitPolicy' }).locator('tr', { hasText: 'limits.cap' }).first();
  assert.match(await line.innerText(), /100 per 1s/);
  assert.equal(await line.locator('pre').count(), 0);
  await line.getByRole('button', { name: 'whole value' }).click();
  assert.match(await line.locator('pre').innerText(), /rates:\n\s*- limit: 100\n\s*window: 1s/);
});

test('a redacted report shows that it is, and no value', async (t) => {
  const at = report(demo, '--redact');
  const page = await open(t, browser, at + '#/rule/HTTPRoute/bakery/baker/rule-1');
  assert.match(await page.locator('header').innerText(), /values left out/);
  assert.match(await page.locator('main').innerText(), /limits\.cap\s+REDACTED/);
  assert.ok(!source(at).includes('id.example.com/realms'));
  assert.ok(source(href).includes('id.example.com/realms'));
  await go(page, node('AuthPolicy.kuadrant.io/infra/gw-auth'));
});

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { demo, go, launch, node, open, report, rows, settled } from './browser.mjs';

const input = 'testdata/audit/manifests.yaml';
const dump = (n) => ['--dataplane', `testdata/audit/proxy-${n}.json`];
let browser;
before(async () => { browser = await launch(); });
after(() => browser?.close());

test('what a proxy does otherwise is told of the rule, and in a view of its own', async (t) => {
  const page = await open(t, browser, report(input, ...dump(2)) + '#/rules');
  const shown = await rows(page);
  const row = (rule, kind) => shown.find((r) => r.includes(rule) && r.includes(kind) && r.includes('infra/eg'));
  assert.match(row('browse', 'SecurityPolicy'), /≠ not done/);
  assert.match(row('checkout', 'BackendTrafficPolicy'), /≠ done otherwise/);
  assert.match(row('checkout', 'SecurityPolicy'), /✓ as predicted/);
  await page.getByLabel('Show').first().selectOption({ label: 'where a proxy does otherwise' });
  assert.equal((await rows(page)).length, 2);
  await page.getByRole('link', { name: 'done otherwise' }).click();
  assert.deepEqual((await rows(page)).map((r) => r.includes('timeout.http.requestTimeout') && r.includes('10s') && r.includes('30s')), [true]);
  assert.match(page.url(), /verdict=differs/);
  await page.getByLabel('The proxy').first().selectOption({ label: 'all' });
  await page.getByRole('searchbox').fill('');
  await settled(page);
  const all = await rows(page);
  assert.ok(all.length > 4 && all[0].includes('not done') && all.at(-1).includes('as predicted'), 'differences come first');
  await page.getByRole('button', { name: 'Setting' }).click();
  assert.notDeepEqual(await rows(page), all);
});

test('the rule and the picture say it, too', async (t) => {
  const page = await open(t, browser, report(input, ...dump(2)) + '#/rule/HTTPRoute/shop/cart/checkout');
  const section = page.locator('section', { hasText: 'What the proxy does' });
  assert.match(await section.innerText(), /\d+ settings as predicted[\s\S]*timeout\.http\.requestTimeout/);
  await go(page, node('BackendTrafficPolicy.gateway.envoyproxy.io/infra/all'));
  assert.match(await page.locator('aside').innerText(), /checkout ≠ a proxy does otherwise/);
  await go(page, '#/');
  assert.match(await page.locator('aside').innerText(), /3 differences/);
  assert.ok((await page.locator('#picture svg text', { hasText: '≠' }).count()) > 0);
});

test('several proxies are told apart, and what they run with', async (t) => {
  const page = await open(t, browser, report(input, ...dump(1), ...dump(2)) + '#/proxies');
  const text = await page.locator('main').innerText();
  assert.match(text, /proxy-1\.json[^\n]*envoygateway · gateway\/infra\/eg · listeners 7/);
  assert.match(text, /do not run with the same version/);
  assert.ok((await rows(page)).every((r) => /proxy-[12]\.json/.test(r)));
});

test('without a dump there is nothing of proxies in the page', async (t) => {
  const page = await open(t, browser, report(demo) + '#/proxies');
  assert.match(await page.locator('h1').innerText(), /Not in this report/);
  assert.equal(await page.getByRole('link', { name: 'Proxies' }).count(), 0);
  await go(page, '#/rules');
  assert.equal(await page.locator('thead th', { hasText: 'Proxy' }).count(), 0);
});

test('no secret of a dump is in the page', async (t) => {
  const page = await open(t, browser, report(input, ...dump(2)));
  assert.ok(!(await page.content()).includes('canary'));
});

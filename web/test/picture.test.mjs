import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { large } from './inputs.mjs';
import { demo, go, launch, node, open, report, settled } from './browser.mjs';

let browser;
let href;
before(async () => {
  browser = await launch();
  href = report(demo);
});
after(() => browser?.close());

const frame = async (page) => (await page.locator('.canvas > #picture > svg').getAttribute('viewBox')).split(' ').map(Number);
const canvas = (page) => page.locator('.canvas');
const link = (page, id) => page.locator(`.canvas a[href="${node(id)}"]`).first();

test('a click on the picture tells what is in force, and back closes it', async (t) => {
  const page = await open(t, browser, href);
  await link(page, 'HTTPRoute.gateway.networking.k8s.io/shop/cart#checkout').click();
  await settled(page);
  assert.equal(await page.evaluate(() => document.activeElement.id), 'panel');
  const panel = page.locator('aside');
  assert.match(await panel.innerText(), /^×?\s*httproute\/shop\/cart\/checkout[\s\S]*limits\.payments[\s\S]*shop\/checkout-limits[\s\S]*shop-policies\.yaml:115[\s\S]*set here \(rule\)/);
  assert.match(await panel.innerText(), /overridden: limits\.browse[\s\S]*replaced as a whole by/);
  assert.equal(await page.locator('.canvas a.chosen').first().getAttribute('href'), node('HTTPRoute.gateway.networking.k8s.io/shop/cart#checkout'));
  await panel.getByRole('link', { name: 'shop/checkout-limits' }).first().click();
  await settled(page);
  assert.match(await panel.innerText(), /ratelimitpolicy\/shop\/checkout-limits[\s\S]*Targets[\s\S]*cart\/checkout/);
  await page.goBack();
  await page.goBack();
  await settled(page);
  assert.match(await panel.innerText(), /^In short/);
  assert.equal(await page.locator('.canvas a.chosen').count(), 0);
});

test('every node of the picture has its panel', async (t) => {
  const page = await open(t, browser, href);
  const links = await page.locator('.canvas a').evaluateAll((all) => [...new Set(all.map((a) => a.getAttribute('href')))]);
  assert.ok(links.length > 30);
  for (const to of links) {
    await go(page, to);
    assert.doesNotMatch(await page.locator('aside').innerText(), /Not in this report/, to);
  }
});

test('choosing a policy lights up where it is in force, and nothing else', async (t) => {
  const page = await open(t, browser, href + node('AuthPolicy.kuadrant.io/infra/gw-auth'));
  const lit = async (state) => (await page.locator(`.canvas a:has(.lit-frame.lit-${state})`).evaluateAll((all) => all.map((a) => decodeURIComponent(a.getAttribute('href')).split('io/')[1]))).sort();
  assert.deepEqual(await lit('effective'), ['bakery/baker#rule-1', 'bakery/baker#rule-2', 'shop/assistant#chat', 'shop/cart#rule-3']);
  assert.deepEqual(await lit('overridden'), ['shop/cart#checkout', 'shop/cart#refund', 'shop/search#rule-1']);
  assert.equal(await link(page, 'HTTPRoute.gateway.networking.k8s.io/shop/cart#checkout').getAttribute('aria-description'), 'overridden here');
  const looks = new Set();
  await go(page, node('TimeoutPolicy.policies.example.com/infra/gw-timeouts'));
  assert.deepEqual(await lit('partial'), ['shop/cart#checkout', 'shop/cart#refund', 'shop/cart#rule-3']);
  for (const state of ['effective', 'partial']) looks.add(await page.locator(`.lit-frame.lit-${state}`).first().evaluate((e) => getComputedStyle(e).strokeDasharray));
  await go(page, node('AuthPolicy.kuadrant.io/infra/gw-auth'));
  looks.add(await page.locator('.lit-frame.lit-overridden').first().evaluate((e) => getComputedStyle(e).strokeDasharray));
  assert.equal(looks.size, 3, 'the frames differ in their lines, not only in colour');
  assert.ok((await page.locator('.canvas .unlit').count()) > 0);
  await go(page, node('Gateway.gateway.networking.k8s.io/infra/external'));
  assert.equal(await page.locator('.canvas .lit-frame, .canvas .lit-sign, .canvas .unlit, .canvas [aria-description]').count(), 0);
});

test('a policy of a large picture lights up what is drawn for its rules', async (t) => {
  const page = await open(t, browser, report(large(200)) + node('RateLimitPolicy.kuadrant.io/infra/gateway-default'));
  await page.locator('.canvas .lit-frame').first().waitFor();
  assert.ok((await page.locator('.canvas .lit-frame').count()) > 0);
});

test('panels of policies, gateways and what is missing', async (t) => {
  const page = await open(t, browser, href + node('AuthPolicy.kuadrant.io/infra/gw-auth'));
  const text = () => page.locator('aside').innerText();
  assert.match(await text(), /authpolicy\/infra\/gw-auth[\s\S]*infra-auth\.yaml:\d+[\s\S]*Targets[\s\S]*gateway\/infra\/external[\s\S]*in force on 4 rules[\s\S]*overridden on 3 rules[\s\S]*Enforced=True/);
  await go(page, node('Gateway.gateway.networking.k8s.io/infra/external'));
  assert.match(await text(), /Policies attached here[\s\S]*authpolicy\/infra\/gw-auth[\s\S]*7 rules below[\s\S]*Accepted=True/);
  await go(page, node('RateLimitPolicy.kuadrant.io/infra/typo'));
  assert.match(await text(), /target not found|not in the input/);
  assert.match(await text(), /TargetNotFound/);
});

test('the picture is moved and zoomed by mouse, wheel, keys and buttons', async (t) => {
  const page = await open(t, browser, href);
  const whole = await frame(page);
  const box = await canvas(page).boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + 8];
  const url = page.url();

  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 60, y + 40, { steps: 4 });
  await page.mouse.up();
  const dragged = await frame(page);
  assert.ok(dragged[0] < whole[0] && dragged[1] < whole[1] && dragged[2] === whole[2]);

  const target = await link(page, 'Service/shop/cart').boundingBox();
  await page.mouse.move(target.x + 5, target.y + 5);
  await page.mouse.down();
  await page.mouse.move(target.x - 60, target.y - 30, { steps: 4 });
  await page.mouse.up();
  await settled(page);
  assert.equal(page.url(), url, 'a drag that begins on a box does not choose it');

  await page.getByRole('button', { name: 'Fit' }).click();
  assert.deepEqual(await frame(page), whole);
  await page.getByRole('button', { name: 'Zoom in' }).click();
  assert.ok((await frame(page))[2] < whole[2]);
  await page.getByRole('button', { name: 'Zoom out' }).click();
  assert.ok(Math.abs((await frame(page))[2] - whole[2]) < 1e-6);

  await page.mouse.move(x, y);
  await page.mouse.wheel(0, -200);
  await settled(page);
  assert.ok(Math.abs((await frame(page))[2] - whole[2]) < 1e-6, 'the wheel scrolls the page until the picture has the focus');
  await canvas(page).focus();
  await page.mouse.wheel(0, -200);
  await settled(page);
  assert.ok((await frame(page))[2] < whole[2]);
  await page.keyboard.press('0');
  assert.deepEqual(await frame(page), whole);
  await page.keyboard.press('+');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowDown');
  const moved = await frame(page);
  assert.ok(moved[2] < whole[2] && moved[0] > whole[0] && moved[1] > whole[1]);
});

test('two fingers zoom', async (t) => {
  const page = await open(t, browser, href, { viewport: { width: 420, height: 800 }, hasTouch: true });
  const whole = await frame(page);
  const box = await canvas(page).boundingBox();
  const session = await page.context().newCDPSession(page);
  const touch = (type, gap) => session.send('Input.dispatchTouchEvent', {
    type, touchPoints: type === 'touchEnd' ? [] : [-gap, gap].map((dx, id) => ({ x: box.x + box.width / 2 + dx, y: box.y + box.height / 2, id })),
  });
  await touch('touchStart', 40);
  for (const gap of [50, 60, 80]) await touch('touchMove', gap);
  await touch('touchEnd', 80);
  await settled(page);
  assert.ok((await frame(page))[2] < whole[2] * 0.7);
});

test('the picture is walked through with the keyboard', async (t) => {
  const page = await open(t, browser, href);
  await canvas(page).focus();
  await page.keyboard.press('Tab');
  const to = await page.evaluate(() => document.activeElement.getAttribute('href'));
  assert.match(to, /^#\/node\//);
  await page.keyboard.press('Enter');
  await settled(page);
  assert.ok(page.url().endsWith(to));
  assert.equal(await page.evaluate(() => document.activeElement.id), 'panel');
});

test('the picture turns dark with the page, and is printed light and whole', async (t) => {
  const page = await open(t, browser, href, { colorScheme: 'light' });
  const fill = () => page.locator('.canvas svg text').first().evaluate((e) => getComputedStyle(e).fill);
  const light = await fill();
  await page.getByLabel('Theme').first().selectOption('dark');
  assert.notEqual(await fill(), light);
  await page.getByLabel('Theme').first().selectOption('auto');
  await page.emulateMedia({ colorScheme: 'dark' });
  assert.notEqual(await fill(), light);
  await page.getByLabel('Theme').first().selectOption('light');
  assert.equal(await fill(), light);
  await page.getByLabel('Theme').first().selectOption('dark');
  const whole = await frame(page);
  await page.getByRole('button', { name: 'Zoom in' }).click();
  const zoomed = await frame(page);
  await page.emulateMedia({ media: 'print' });
  await settled(page);
  assert.equal(await fill(), light);
  assert.deepEqual(await frame(page), whole);
  await page.emulateMedia({ media: 'screen' });
  await settled(page);
  assert.deepEqual(await frame(page), zoomed);
});

test('what a large picture draws as one lists its members', async (t) => {
  const page = await open(t, browser, report(large(200)));
  const links = await page.locator('.canvas a').evaluateAll((all) => [...new Set(all.map((a) => a.getAttribute('href')))]);
  assert.ok(links.length > 3 && links.length < 400, `${links.length} links`);
  let groups = 0;
  for (const to of links.slice(0, 60)) {
    await go(page, to);
    const text = await page.locator('aside').innerText();
    assert.doesNotMatch(text, /Not in this report/, to);
    if (/\d+ members/.test(text)) groups++;
  }
  assert.ok(groups > 0);
});

test('a page without a picture says why, and has everything else', async (t) => {
  const page = await open(t, browser, report(demo, '--no-picture'));
  assert.match(await page.locator('main').innerText(), /--no-picture/);
  await page.getByRole('link', { name: 'authpolicy/infra/gw-auth' }).click();
  await settled(page);
  assert.match(await page.locator('aside').innerText(), /Targets/);
});

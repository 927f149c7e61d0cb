import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { bare, broken, large } from './inputs.mjs';
import { demo, go, launch, node, open, report, rows, run, settled } from './browser.mjs';

let browser;
let href;
before(async () => {
  browser = await launch();
  href = report(demo);
});
after(() => browser?.close());

const heading = async (page) => {
  await settled(page);
  return page.locator('h1').innerText();
};
const search = async (page, text) => {
  await page.getByRole('searchbox').fill(text);
  await settled(page);
};

test('the table has a row for each result of effective', async (t) => {
  const page = await open(t, browser, href + '#/rules');
  const { items } = JSON.parse(run('effective', '-A', '-f', demo, '-o', 'json'));
  const shown = await rows(page);
  assert.equal(shown.length, items.length);
  items.forEach((item, i) => {
    for (const word of [item.target.namespace, item.target.name, item.target.section, item.policyKind.split('.')[0], ...item.rules.map((r) => r.name)]) {
      assert.ok(shown[i].includes(word), `row ${i} has ${word}: ${shown[i]}`);
    }
  });
});

test('why is told in the words of the terminal', async (t) => {
  const page = await open(t, browser, href);
  let told = 0;
  for (const [target, hash] of [['httproute/cart/checkout', 'HTTPRoute/shop/cart/checkout'], ['httproute/baker/rule-1', 'HTTPRoute/bakery/baker/rule-1'], ['grpcroute/inventory/reserve', 'GRPCRoute/shop/inventory/reserve']]) {
    await go(page, '#/rule/' + hash);
    const shown = await rows(page);
    for (const line of run('effective', target, '-f', demo, '-o', 'wide', '--by-rule').split('\n')) {
      const [, , setting, , from, why, , block, , origin] = line.split(/ {2,}/);
      if (!origin?.includes('.yaml:')) continue;
      assert.ok(block);
      assert.ok(shown.some((row) => [setting, from, why, origin].every((word) => row.includes(word))), line);
      told++;
    }
  }
  assert.ok(told > 10);
});

test('search and filters narrow the table, and the address keeps them', async (t) => {
  const page = await open(t, browser, href + '#/rules');
  const all = (await rows(page)).length;
  await search(page, 'CART geo');
  const found = await rows(page);
  assert.ok(found.length > 0 && found.length < all);
  assert.match(page.url(), /q=CART\+geo/);
  await assert.doesNotReject(page.locator('[role=status]').getByText(`${found.length} rows found`).waitFor());
  await search(page, 'kind:ratelimit ns:bakery');
  assert.equal((await rows(page)).length, 2);
  await search(page, '');
  await page.getByLabel('Namespace').first().selectOption('bakery');
  assert.equal((await rows(page)).length, 6);
  await page.getByLabel('Policy kind').first().selectOption({ label: 'AuthPolicy' });
  assert.equal((await rows(page)).length, 2);
  await page.reload();
  assert.equal((await rows(page)).length, 2);
  await search(page, 'nothing has this name');
  assert.equal((await rows(page)).length, 0);
  await page.getByRole('button', { name: 'show all' }).click();
  assert.equal((await rows(page)).length, all);
});

test('values and files are found, too', async (t) => {
  const page = await open(t, browser, href + '#/rules');
  await search(page, 'id.example.com/realms/customers');
  assert.ok((await rows(page)).every((r) => r.includes('cart')));
  await search(page, 'infra-auth.yaml:37');
  assert.ok((await rows(page)).length > 0);
});

test('a row opens the rule, and the browser goes back', async (t) => {
  const page = await open(t, browser, href + '#/rules?q=baker');
  await page.locator('tbody tr').first().locator('td').nth(4).click();
  assert.match(page.url(), /#\/rule\/HTTPRoute\/bakery\/baker\/rule-1$/);
  assert.equal(await heading(page), 'HTTPRoute bakery/baker rule-1');
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'heading');
  assert.match(await page.title(), /^HTTPRoute bakery\/baker rule-1 – /);
  await page.getByRole('navigation', { name: 'Rules of this route' }).getByText('rule-2').click();
  assert.equal(await heading(page), 'HTTPRoute bakery/baker rule-2');
  await page.goBack();
  await page.goBack();
  assert.equal(await heading(page), 'Rules');
  assert.equal(await page.getByRole('searchbox').inputValue(), 'baker');
});

test('a rule says what is in force, from where, and what lost', async (t) => {
  const page = await open(t, browser, href + '#/rule/HTTPRoute/bakery/baker/rule-1');
  const table = page.locator('section.kind', { hasText: 'RateLimitPolicy' }).locator('table');
  const line = table.locator('tr', { hasText: 'limits.cap' });
  assert.match(await line.first().innerText(), /infra\/gw-cap[\s\S]*override of Gateway, beats bakery\/baker-all[\s\S]*infra-limits\.yaml:16/);
  assert.match(await line.nth(1).innerText(), /bakery\/baker-all[\s\S]*lost, override of Gateway/);
  await page.getByText('The stack of 3 policies').click();
  assert.match(await page.locator('details.stack').nth(1).innerText(), /partly in force|overridden/);
});

test('a rule says which requests it takes, with one of each class', async (t) => {
  const page = await open(t, browser, href + '#/rule/HTTPRoute/shop/cart/checkout');
  const { items } = JSON.parse(run('report', '-f', demo, '-o', 'json')).classes;
  const { classes } = items.find((i) => i.rule.name === 'cart' && i.rule.section === 'checkout');
  const shown = await page.locator('section.requests li').allInnerTexts();
  assert.equal(shown.length, classes.length);
  classes.forEach((c, i) => [c.class, c.command, c.listener.name, c.listener.section].forEach((word) => assert.ok(shown[i].includes(word), `${word} in ${shown[i]}`)));
  assert.match(shown[0], /paths below \/cart\/checkout/);
});

test('a rule says what requests are protected by, and why', async (t) => {
  const page = await open(t, browser, href + '#/rule/GRPCRoute/shop/inventory/reserve');
  const { items } = JSON.parse(run('report', '-f', demo, '-o', 'json')).protection;
  const { protection } = items.find((i) => i.rule.name === 'inventory' && i.rule.section === 'reserve');
  const lines = page.locator('section.protection tbody tr');
  assert.equal(await lines.count(), Object.keys(protection).length);
  assert.match(await lines.nth(0).innerText(), /authentication\s+✓ tokenReview\s+rules\.authentication\.cart-service AuthPolicy shop\/reserve-auth/);
  assert.match(await lines.nth(1).innerText(), /authorization\s+✕ no \(replaced\)\s+rules\.authorization\.same-team of AuthPolicy infra\/api-auth is overridden by AuthPolicy shop\/reserve-auth/);
});

test('the table of rules says how requests authenticate', async (t) => {
  const page = await open(t, browser, href + '#/rules?q=reserve');
  const cell = page.locator('table.rules ul.protection').first();
  assert.match(await cell.innerText(), /authentication: ✓ tokenReview[\s\S]*authorization: ✕ no \(replaced\)/);
});

test('an address of nothing says so and offers a search', async (t) => {
  const page = await open(t, browser, href + '#/rule/HTTPRoute/shop/checkout/one');
  assert.equal(await heading(page), 'Not in this report');
  await page.getByRole('link', { name: 'Search the rules for' }).click();
  assert.match(page.url(), /rules\?q=checkout/);
  await go(page, node('Gateway/none/none'));
  assert.match(await page.locator('aside').innerText(), /Not in this report/);
  await go(page, '#/what/ever');
  assert.equal(await heading(page), 'Not in this report');
  await go(page, '#/rule/%zz/%');
  assert.equal(await heading(page), 'Not in this report');
});

test('overridden, problems and status tell what the commands tell', async (t) => {
  const page = await open(t, browser, href + '#/overridden');
  const lost = JSON.parse(run('overridden', '-A', '-f', demo, '-o', 'json')).items;
  assert.match(await page.locator('.count').innerText(), new RegExp(`^${lost.length} losses`));
  const text = await page.locator('main').innerText();
  for (const item of lost) assert.ok(text.includes(item.message), item.message);
  await page.getByLabel('Show').first().selectOption('nowhere');
  assert.ok((await rows(page)).every((r) => r.includes('in force nowhere')));

  await go(page, '#/problems');
  const findings = JSON.parse(run('check', '-f', demo, '--show-suppressed', '-o', 'json')).items;
  assert.equal((await rows(page)).length, findings.length);
  await page.getByLabel('Severity').first().selectOption('warning');
  assert.equal((await rows(page)).length, findings.filter((f) => f.severity === 'warning').length);
  assert.match((await rows(page)).join('\n'), /hint: did you mean gateway\/infra\/external\?/);

  await go(page, '#/status');
  const statuses = JSON.parse(run('status', '-A', '-f', demo, '-o', 'json')).items;
  assert.equal((await rows(page)).length, statuses.length);
  await search(page, 'typo');
  assert.match((await rows(page)).join(), /Accepted=False\s+TargetNotFound/);
});

test('a route rule on which nothing is in force is not missed', async (t) => {
  const page = await open(t, browser, report(bare()));
  await page.getByRole('link', { name: '1 route rule', exact: true }).click();
  assert.match((await rows(page)).join('\n'), /^shop\s+HTTPRoute\/cart\s+open[\s\S]*nothing in force\s+authentication: ✕ no\s*$/);
  await page.getByRole('link', { name: 'HTTPRoute shop/cart open' }).click();
  assert.equal(await heading(page), 'HTTPRoute shop/cart open');
  assert.match(await page.locator('main').innerText(), /No policy is in force here/);
});

test('what is not complete says so, and what is missing', async (t) => {
  const page = await open(t, browser, report(broken()));
  assert.match(await page.locator('.banner').innerText(), /not complete[\s\S]*error/);
});

test('the theme follows the browser and the switch', async (t) => {
  const page = await open(t, browser, href, { colorScheme: 'dark' });
  const back = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const dark = await back();
  await page.getByLabel('Theme').first().selectOption('light');
  const light = await back();
  assert.notEqual(light, dark);
  await page.emulateMedia({ colorScheme: 'light' });
  assert.equal(await back(), light);
  await page.getByLabel('Theme').first().selectOption('dark');
  assert.equal(await back(), dark);
  await page.getByLabel('Theme').first().selectOption('auto');
  assert.equal(await back(), light);
});

test('everything can be reached with the keyboard alone', async (t) => {
  const page = await open(t, browser, href);
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Skip to the content');
  const until = async (wanted) => {
    for (let i = 0; i < 40; i++) {
      await page.keyboard.press('Tab');
      if ((await page.evaluate(() => document.activeElement.textContent)).startsWith(wanted)) return;
    }
    assert.fail(`Tab does not come to ${wanted}`);
  };
  await until('Rules');
  await page.keyboard.press('Enter');
  assert.equal(await heading(page), 'Rules');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'heading');
  await page.keyboard.press('Tab');
  await page.keyboard.type('cart checkout auth');
  assert.equal((await rows(page)).length, 1);
  await until('checkout');
  await page.keyboard.press('Enter');
  assert.equal(await heading(page), 'HTTPRoute shop/cart checkout');
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  assert.notEqual(outline, 'none');
});

test('ten thousand rules are paged, searched and opened', async (t) => {
  const page = await open(t, browser, report(large(1000)) + '#/rules');
  assert.match(await page.locator('.count').innerText(), /^10 000 rows$/);
  assert.equal((await rows(page)).length, 100);
  assert.equal(await page.locator('table.rules').getAttribute('aria-rowcount'), '10001');
  await page.getByRole('button', { name: 'next' }).click();
  assert.equal(await page.locator('tbody tr').first().getAttribute('aria-rowindex'), '102');
  await search(page, 'route-970 step-3');
  assert.equal((await rows(page)).length, 1);
  await page.locator('tbody tr').first().click();
  assert.match(await heading(page), /route-970 step-3/);
  assert.match(await page.locator('main').innerText(), /own-970/);
  await go(page, node('Gateway.gateway.networking.k8s.io/infra/front'));
  assert.match(await page.locator('aside').innerText(), /10 000 route rules below/);
  await go(page, '#/overridden');
  assert.ok((await rows(page)).length <= 100);
});

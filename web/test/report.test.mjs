import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { bare, broken, dangling, large, ways } from './inputs.mjs';
import { demo, file, go, launch, node, open, report, rows, run, settled } from './browser.mjs';

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

test('the table has a row for each rule, with everything that effective says of it', async (t) => {
  const page = await open(t, browser, href + '#/rules');
  const { items } = JSON.parse(run('effective', '-A', '-f', demo, '-o', 'json'));
  const shown = await rows(page);
  const spelled = ({ kind, namespace, name, section }) => `${kind.toLowerCase()}/${namespace}/${name}/${section}`;
  const rules = new Set(items.map((i) => spelled(i.target)));
  assert.equal(shown.length, rules.size);
  assert.ok(rules.size < items.length);
  for (const item of items) {
    const row = shown.find((r) => r.includes(spelled(item.target)));
    for (const word of [item.policyKind.split('.')[0], ...item.rules.map((r) => r.name)]) assert.ok(row?.includes(word), `${word} in ${row}`);
  }
  assert.equal(await page.locator('.count').innerText(), `${rules.size} rules`);
  assert.match(await page.getByRole('navigation', { name: 'Views' }).innerText(), new RegExp(`Rules ${rules.size}\\b`));
  await go(page, '#/');
  const pairs = new Set(items.map((i) => spelled(i.target) + i.policyKind));
  const short = await page.locator('aside').innerText();
  assert.ok(short.includes(`${rules.size} rules with policies (${pairs.size} rule and policy-kind pairs)`), short);
  assert.match(short, /13 settings overridden on 8 rules/);
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
  assert.equal((await rows(page)).length, 2);
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
  await page.locator('tbody tr').first().locator('td').nth(1).click();
  assert.match(page.url(), /#\/rule\/HTTPRoute\/bakery\/baker\/rule-1$/);
  assert.equal(await heading(page), 'httproute/bakery/baker/rule-1');
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'heading');
  assert.match(await page.title(), /^httproute\/bakery\/baker\/rule-1 – /);
  await page.getByRole('navigation', { name: 'Rules of this route' }).getByText('rule-2').click();
  assert.equal(await heading(page), 'httproute/bakery/baker/rule-2');
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
  assert.match(await line.nth(1).innerText(), /bakery\/baker-all[\s\S]*overridden, override of Gateway/);
  await page.getByText('The 3 policies on the way here').click();
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

test('a rule says which points one of its requests passes, and by what it is denied', async (t) => {
  const mesh = 'testdata/demo-mesh';
  const page = await open(t, browser, report(mesh) + '#/rule/HTTPRoute/flowers/flowers/tulips');
  const { items } = JSON.parse(run('report', '-f', mesh, '-o', 'json')).classes;
  const { path, example } = items.find((i) => i.rule.section === 'tulips');
  const shown = page.locator('ol.points > li');
  assert.equal(await page.locator('section.points > p').innerText(), `${example}, without credentials: ✓ allowed`);
  const lines = await shown.allInnerTexts();
  assert.equal(lines.length, path.length);
  path.forEach((p, i) => [p.point, p.verdict, p.because, p.object.name].forEach((word) => assert.ok(lines[i].includes(word), `${word} in ${lines[i]}`)));
  assert.match(lines[1], /^waypoint gateway\/flowers\/garden ◌ bypassed\n[\s\S]*in force for other traffic: authorizationpolicy\/flowers\/no-deletes/);
  assert.match(lines[2], /^workload ztunnel deployment\/flowers\/tulips ✓ allowed\n[\s\S]*it comes as cluster\.local\/ns\/edge\/sa\/front-istio, to port 8080/);
  await shown.nth(1).getByRole('link', { name: 'no-deletes' }).press('Enter');
  assert.equal(await page.locator('aside h2').first().innerText(), 'authorizationpolicy/flowers/no-deletes');
});

test('points behind one that denies are judged as if the request came so far, on each way', async (t) => {
  const page = await open(t, browser, report(ways()) + '#/rule/HTTPRoute/shop/cart/all');
  assert.match(await page.locator('section.points > p').innerText(), /\? depends$/);
  const lines = await page.locator('ol.points > li').allInnerTexts();
  const short = lines.map((l) => l.replace(/\n(?!egress|ingress|workload)[\s\S]*/, '').replace('\n', ': '));
  assert.deepEqual(short, [
    'edge gateway/infra/front ✓ allowed',
    'to service/shop/cart/80: ingress NetworkPolicy deployment/shop/cart-a ✕ denied',
    'workload ztunnel deployment/shop/cart-a ✓ allowed if the request came so far',
    'to service/shop/cart/80: ingress NetworkPolicy deployment/shop/cart-b ✓ allowed',
    'workload ztunnel deployment/shop/cart-b ✓ allowed',
  ]);
});

test('a report of an input without anything behind the Gateway has no points', async (t) => {
  const page = await open(t, browser, href + '#/rule/HTTPRoute/shop/cart/checkout');
  await page.locator('section.requests').waitFor();
  assert.equal(await page.locator('section.points').count(), 0);
});

test('a rule says what requests are protected by, and why', async (t) => {
  const page = await open(t, browser, href + '#/rule/GRPCRoute/shop/inventory/reserve');
  const { items } = JSON.parse(run('report', '-f', demo, '-o', 'json')).protection;
  const { protection } = items.find((i) => i.rule.name === 'inventory' && i.rule.section === 'reserve');
  const lines = page.locator('section.protection tbody tr');
  assert.equal(await lines.count(), Object.keys(protection).length);
  assert.match(await lines.nth(0).innerText(), /authentication\s+✓ tokenReview\s+rules\.authentication\.cart-service authpolicy\/shop\/reserve-auth/);
  assert.match(await lines.nth(1).innerText(), /authorization\s+✕ no \(replaced\)\s+rules\.authorization\.same-team of authpolicy\/infra\/api-auth is overridden by authpolicy\/shop\/reserve-auth/);
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
  assert.match(await page.locator('.count').innerText(), new RegExp(`^${lost.length} settings overridden on 8 rules`));
  const text = await page.locator('main').innerText();
  for (const item of lost) assert.ok(text.includes(item.message), item.message);
  await page.getByLabel('Show').first().selectOption('nowhere');
  assert.ok((await rows(page)).every((r) => r.includes('not in force anywhere')));

  await go(page, '#/problems');
  const findings = JSON.parse(run('check', '-f', demo, '--show-suppressed', '-o', 'json')).items;
  assert.match(await page.locator('.count').innerText(), new RegExp(`^${findings.length} problems`));
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
  await page.getByRole('link', { name: '1 rule', exact: true }).first().click();
  assert.match((await rows(page)).join('\n'), /^httproute\/shop\/cart\/open\s+◌ no policy in force\s+authentication: ✕ no\s*$/);
  await page.getByRole('link', { name: 'httproute/shop/cart/open' }).click();
  assert.equal(await heading(page), 'httproute/shop/cart/open');
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
  await until('httproute/shop/cart/checkout');
  await page.keyboard.press('Enter');
  assert.equal(await heading(page), 'httproute/shop/cart/checkout');
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  assert.notEqual(outline, 'none');
});

test('ten thousand rules are paged, searched and opened', async (t) => {
  const page = await open(t, browser, report(large(1000)) + '#/rules');
  assert.match(await page.locator('.count').innerText(), /^10 000 rules$/);
  assert.equal((await rows(page)).length, 100);
  assert.equal(await page.locator('table.rules').getAttribute('aria-rowcount'), '10001');
  await page.getByRole('button', { name: 'next' }).click();
  assert.equal(await page.locator('tbody tr').first().getAttribute('aria-rowindex'), '102');
  await search(page, 'route-970 step-3');
  assert.equal((await rows(page)).length, 1);
  await page.locator('tbody tr').first().locator('td').nth(1).click();
  assert.match(await heading(page), /route-970\/step-3/);
  assert.match(await page.locator('main').innerText(), /own-970/);
  await go(page, node('Gateway.gateway.networking.k8s.io/infra/front'));
  assert.match(await page.locator('aside').innerText(), /10 000 rules below/);
  await go(page, '#/overridden');
  assert.ok((await rows(page)).length <= 100);
});

test('values are as short as in the terminal', async (t) => {
  const page = await open(t, browser, href + '#/rules');
  const text = (await rows(page)).join('\n');
  const { items } = JSON.parse(run('report', '-f', demo, '-o', 'json')).effective;
  const table = run('effective', '-A', '-f', demo, '--by-rule');
  for (const { summary, name } of items.flatMap((i) => i.rules)) {
    assert.ok(table.includes(summary), `${name}: ${summary} in the table of effective`);
    assert.ok(text.includes(`${name} ${summary}`), `${name}: ${summary} in the page`);
  }
});

test('the table shows where a chosen policy is in force, partly in force and overridden', async (t) => {
  const page = await open(t, browser, href + node('AuthPolicy.kuadrant.io/infra/gw-auth'));
  await page.getByRole('link', { name: 'Show these in the table of rules' }).click();
  await settled(page);
  assert.match(page.url(), /rules\?policy=AuthPolicy/);
  assert.match(await page.locator('.chosen-policy').innerText(), /authpolicy\/infra\/gw-auth\s+● in force 4\s+○ overridden 3/);
  const shown = await rows(page);
  assert.equal(shown.length, 7);
  const row = (rule) => shown.find((r) => r.includes(rule));
  assert.match(row('httproute/shop/cart/rule-3'), /● in force/);
  assert.match(row('httproute/shop/search/rule-1'), /○ overridden[\s\S]*○ overridden: rules\.authorization\.geo [\s\S]* by authpolicy\/shop\/search-auth/);
  assert.equal(await page.locator('tr.lit-effective').count(), 4);
  assert.equal(await page.locator('tr.lit-overridden').count(), 3);
  assert.ok((await page.locator('li.mine').allInnerTexts()).every((text) => text.includes('geo')));
  await go(page, '#/rules?policy=' + encodeURIComponent('TimeoutPolicy.policies.example.com/infra/gw-timeouts'));
  assert.equal(await page.locator('tr.lit-partial').count(), 3);
  await page.getByRole('button', { name: 'Show all rules' }).click();
  assert.ok((await rows(page)).length > 7);
});

test('partly in force looks like neither in force nor overridden', async (t) => {
  for (const colorScheme of ['light', 'dark']) {
    const page = await open(t, browser, href, { colorScheme });
    const look = async (state) => {
      const of = page.locator(`.fates .state.${state}`).first();
      return [await of.evaluate((e) => getComputedStyle(e).color), (await of.innerText())[0]];
    };
    await page.locator('.fates .state.partial').first().waitFor();
    const looks = [await look('effective'), await look('partial'), await look('overridden')];
    assert.equal(new Set(looks.map(([color]) => color)).size, 3, `${colorScheme}: ${looks}`);
    assert.deepEqual(looks.map(([, sign]) => sign), ['●', '◐', '○']);
    await go(page, node('AuthPolicy.kuadrant.io/infra/gw-auth'));
    const enforced = page.locator('.conditions li', { hasText: 'Enforced=True' });
    assert.match(await enforced.innerText(), /◐ partly in force/);
    assert.equal(await enforced.locator('.status').evaluate((e) => getComputedStyle(e).color), looks[1][0]);
  }
});

test('a thousand equal findings are one line that opens', async (t) => {
  const page = await open(t, browser, report(dangling(1000)) + '#/problems');
  const found = JSON.parse(run('check', '-f', file('dangling.yaml', dangling(1000)), '-o', 'json')).items.filter((f) => f.id === 'TargetNotFound');
  assert.equal(found.length, 1000);
  const line = page.locator('tbody tr', { hasText: 'TargetNotFound' });
  assert.equal(await line.count(), 1);
  assert.match(await line.innerText(), /TargetNotFound × 1 000[\s\S]*httproute\/shop\/gone-/);
  const open1 = line.getByRole('button', { name: 'the same of 999 other objects' });
  await open1.focus();
  await page.keyboard.press('Enter');
  assert.equal(await line.locator('.same li').count(), 20);
  await line.getByRole('button', { name: '100 of 979 more problems' }).click();
  assert.equal(await line.locator('.same li').count(), 120);
  assert.match(await line.locator('.same').innerText(), /ratelimitpolicy\/shop\/limits-/);
  await search(page, 'gone-777');
  assert.match((await rows(page)).join('\n'), /gone-777/);
});

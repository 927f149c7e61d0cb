import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import { broken } from './inputs.mjs';
import { demo, go, launch, node, open, report } from './browser.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
let browser;
before(async () => { browser = await launch(); });
after(() => browser?.close());

const views = {
  overview: '#/',
  policy: node('AuthPolicy.kuadrant.io/infra/gw-auth'),
  gateway: node('Gateway.gateway.networking.k8s.io/infra/external'),
  'rule in the picture': node('HTTPRoute.gateway.networking.k8s.io/shop/cart#checkout'),
  rules: '#/rules',
  'rules, searched': '#/rules?q=cart',
  'rules, none': '#/rules?q=xyzzy',
  rule: '#/rule/HTTPRoute/bakery/baker/rule-1',
  'no such rule': '#/rule/HTTPRoute/bakery/baker/rule-9',
  overridden: '#/overridden',
  problems: '#/problems',
  status: '#/status',
};

/** axe runs in a world of its own: the page's security policy allows no script beside its own. */
async function violations(page) {
  const session = await page.context().newCDPSession(page);
  const { frameTree } = await session.send('Page.getFrameTree');
  const { executionContextId } = await session.send('Page.createIsolatedWorld', { frameId: frameTree.frame.id, worldName: 'axe' });
  const evaluate = async (expression) => {
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', { expression, contextId: executionContextId, awaitPromise: true, returnByValue: true });
    assert.equal(exceptionDetails, undefined, exceptionDetails?.exception?.description);
    return result.value;
  };
  await evaluate(axe);
  const found = await evaluate(`axe.run(document, { resultTypes: ['violations'] }).then((r) => r.violations.map((v) => v.id + ': ' + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200) + ' ' + n.failureSummary).join(' | ')))`);
  await session.detach();
  return found;
}

const audited = { overview: '#/', rules: '#/rules', rule: '#/rule/HTTPRoute/shop/cart/checkout', proxies: '#/proxies', 'proxies, one': '#/proxies?verdict=Missing', policy: node('BackendTrafficPolicy.gateway.envoyproxy.io/infra/all') };

const behind = { 'points on a way': '#/rule/HTTPRoute/flowers/flowers/tulips' };

for (const colorScheme of ['light', 'dark']) {
  test(`axe finds nothing in any view, ${colorScheme}`, async (t) => {
    const proxies = report('testdata/audit/manifests.yaml', '--dataplane', 'testdata/audit/proxy-1.json', '--dataplane', 'testdata/audit/proxy-2.json');
    for (const [href, all] of [[report(demo), views], [proxies, audited], [report('testdata/demo-mesh'), behind]]) {
      const page = await open(t, browser, href, { colorScheme });
      for (const [name, hash] of Object.entries(all)) {
        await go(page, hash);
        await page.locator('main h1').waitFor();
        for (const d of await page.locator('main summary').all()) await d.click();
        assert.deepEqual(await violations(page), [], name);
      }
    }
  });

  test(`axe finds nothing on a small screen or in what is not complete, ${colorScheme}`, async (t) => {
    const page = await open(t, browser, report(broken()), { colorScheme, viewport: { width: 420, height: 800 } });
    for (const hash of ['#/', '#/rules', '#/problems']) {
      await go(page, hash);
      assert.deepEqual(await violations(page), [], hash);
    }
  });
}

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { attacks, hostile } from './inputs.mjs';
import { go, launch, open, report, source } from './browser.mjs';

let browser;
let href;
before(async () => {
  browser = await launch();
  // No API server takes such names: the objects are read as they are written.
  href = report(hostile(), '--title', attacks[0] + attacks[1], '--schemas', 'off');
});
after(() => browser?.close());

const views = ['#/', '#/rules', '#/overridden', '#/problems', '#/status', '#/rule/' + attacks[0], '#/node/' + encodeURIComponent(attacks[1]), '#/' + attacks[1], '#/rules?q=' + attacks[1]];

/** elements that no text of an input may become, and attributes that run something or lead somewhere. */
function trespassers() {
  const found = [];
  for (const e of document.body.querySelectorAll('*')) {
    if (['SCRIPT', 'IMG', 'IFRAME', 'OBJECT', 'EMBED', 'FORM', 'B', 'I', 'META', 'BASE', 'LINK', 'STYLE', 'foreignObject', 'use', 'image'].includes(e.localName.toUpperCase()) || ['foreignObject', 'use', 'image'].includes(e.localName)) {
      if (!e.matches('body > script')) found.push(e.outerHTML.slice(0, 200));
    }
    for (const a of e.attributes) {
      if (a.name.startsWith('on') || (a.name === 'style' && !/^aspect-ratio: [\d.]+ \/ 1;$/.test(a.value)) || a.name === 'src' || (/href$/.test(a.name) && !a.value.startsWith('#'))) found.push(`${e.localName} ${a.name}=${a.value}`.slice(0, 200));
    }
  }
  return found;
}

test('text of the input stays text in every view', async (t) => {
  const page = await open(t, browser, href);
  for (const view of views) {
    await go(page, view);
    assert.deepEqual(await page.evaluate(trespassers), [], view);
    assert.ok((await page.locator('h1').innerText()).length > 0);
  }
  // One of the names is a template that nobody rendered: that is all that is not known.
  assert.equal(await page.locator('.banner').count(), 1);
  await go(page, '#/problems');
  const problems = await page.locator('main').textContent();
  assert.doesNotMatch(problems, /not used|not read/, 'all of the input was read');
  assert.match(problems, /UnrenderedVariable/);
  await go(page, '#/rules');
  const text = await page.locator('main').textContent();
  for (const attack of attacks.slice(0, 8)) assert.ok(text.includes(attack), attack);
});

test('characters that are not seen are written out', async (t) => {
  const page = await open(t, browser, href);
  for (const view of ['#/', '#/rules', '#/overridden', '#/status', '#/problems']) {
    await go(page, view);
    assert.doesNotMatch(await page.locator('header, main').allTextContents().then((all) => all.join('')), /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u, view);
  }
  await go(page, '#/rules');
  assert.ok((await page.locator('main').textContent()).includes('a\\u2028b\\u2029c\\u202ed\\u0000e\\u0007f'));
});

test('every rule and every node of a hostile input can be opened', async (t) => {
  const page = await open(t, browser, href + '#/rules');
  const links = await page.locator('tbody th a').evaluateAll((all) => all.map((a) => a.getAttribute('href')));
  const nodes = await page.locator('tbody td a').evaluateAll((all) => all.map((a) => a.getAttribute('href')));
  for (const link of new Set([...links, ...nodes])) {
    await go(page, link);
    assert.doesNotMatch(await page.locator('main').innerText(), /Not in this report/, link.slice(0, 100));
    assert.deepEqual(await page.evaluate(trespassers), [], link.slice(0, 100));
  }
});

test('very long names do not break the page', async (t) => {
  const page = await open(t, browser, href + '#/rules', { viewport: { width: 420, height: 800 } });
  for (const view of views) {
    await go(page, view);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(wide <= 0, `${view.slice(0, 40)} is ${wide} pixels too wide`);
  }
});

test('the page has its security policy, and nothing in the data ends a script', () => {
  const html = source(href);
  assert.match(html, /<meta http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;; script-src [^"]*sha256-|default-src 'none'; script-src [^"]*'sha256-/);
  assert.doesNotMatch(html, /unsafe-inline|unsafe-eval/);
  const data = html.match(/id="data">([\s\S]*?)<\/script>/)[1];
  assert.doesNotMatch(data, /[<>&\u2028\u2029]/);
});

test('the source makes no markup of text', () => {
  const folder = new URL('../src/', import.meta.url);
  const markup = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment|\beval\(|new Function|javascript:/;
  for (const name of readdirSync(folder)) assert.doesNotMatch(readFileSync(new URL(name, folder), 'utf8'), markup, name);
});

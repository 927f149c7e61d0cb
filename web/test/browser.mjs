// What the tests share: pages made by the program, and a browser that notices whatever a page should not do.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

export const root = fileURLToPath(new URL('../../', import.meta.url));
export const program = process.env.DOPOLICY || join(root, 'bin/kubectl-dopolicy');
export const demo = 'testdata/demo';

const folder = mkdtempSync(join(tmpdir(), 'report-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

/** run runs the program in the project's folder and returns its standard output, whatever the exit code. */
export function run(...args) {
  if (!existsSync(program)) throw new Error(`there is no ${program}: make build, or set DOPOLICY`);
  try {
    return execFileSync(program, args, { cwd: root, maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'ignore'] }).toString();
  } catch (error) {
    if (error.stdout?.length > 0) return error.stdout.toString();
    throw error;
  }
}

let made = 0;

/** file writes a text to a file of the tests' own. */
export function file(name, text) {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** report makes the report of an input, a path or a text of YAML, and returns the address of the page. */
export function report(input, ...flags) {
  const path = input.includes('\n') ? file(`input-${made++}.yaml`, input) : input;
  const page = file(`report-${made++}.html`, run('report', '-f', path, ...flags));
  return pathToFileURL(page).href;
}

export const source = (href) => readFileSync(fileURLToPath(href), 'utf8');

export function launch() {
  const executablePath = process.env.CHROMIUM || ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
  if (!executablePath) throw new Error('there is no Chromium: install it, or set CHROMIUM');
  return chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
}

/** open opens a page in a context of its own. At the end of the test the page must have asked for itself only, and must not have complained. */
export async function open(t, browser, href, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, offline: true, ...options });
  const page = await context.newPage();
  const wrong = [];
  page.on('console', (m) => ['error', 'warning'].includes(m.type()) && wrong.push(`console: ${m.text()}`));
  page.on('pageerror', (e) => wrong.push(`error: ${e}`));
  page.on('dialog', (d) => wrong.push(`dialog: ${d.message()}`));
  page.on('popup', () => wrong.push('a window was opened'));
  page.on('request', (r) => r.url().split('#')[0] !== href.split('#')[0] && !r.url().startsWith('data:,') && wrong.push(`request: ${r.url()}`));
  await page.goto(href);
  await page.locator('header .title').waitFor();
  t.after(async () => {
    assert.equal(await page.evaluate(() => window.__pwned), undefined);
    await context.close();
    assert.deepEqual(wrong, []);
  });
  return page;
}

/** settled waits until the page has done what it was asked to: what was typed counts after 25 ms, then the page draws, then it moves the focus. */
export async function settled(page) {
  await page.evaluate(() => new Promise((done) => {
    setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 5))), 40);
  }));
}

/** go follows a link within the page by its address. */
export async function go(page, hash) {
  await page.evaluate((to) => { location.hash = to; }, hash);
  await settled(page);
}

export const node = (id) => '#/node/' + encodeURIComponent(id);

/** the texts of the rows of the table that is shown. */
export async function rows(page) {
  await settled(page);
  return page.locator('main table > tbody > tr').allInnerTexts();
}

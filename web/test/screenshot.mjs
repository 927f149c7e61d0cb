// Takes the picture of the demo's report that docs/report.md shows.
import { fileURLToPath } from 'node:url';
import { demo, launch, node, report, settled } from './browser.mjs';

const browser = await launch();
const page = await browser.newPage({ viewport: { width: 1120, height: 660 }, offline: true });
await page.goto(report(demo) + node('AuthPolicy.kuadrant.io/infra/gw-auth'));
await page.locator('aside h2').waitFor();
await settled(page);
await page.screenshot({ path: fileURLToPath(new URL('../../docs/pictures/report.png', import.meta.url)) });
await browser.close();

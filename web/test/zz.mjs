import { launch } from './browser.mjs';
import { readFileSync } from 'node:fs';
const [,, ...jobs] = process.argv; // svg out scheme font width height
const b = await launch();
for (const j of jobs) { const [svg, out, scheme, font, w, h] = j.split('|');
 const page = await b.newPage({ viewport: { width: +(w||1400), height: +(h||1100) }, colorScheme: scheme });
 let s = readFileSync(svg, 'utf8'); if (font) s = s.replace(/font-family="[^"]*"/, `font-family="${font}"`);
 await page.setContent(`<body style="margin:0;background:${scheme==='dark'?'#14181d':'#fff'}">${s}`); await page.screenshot({ path: out, fullPage: false }); }
await b.close();

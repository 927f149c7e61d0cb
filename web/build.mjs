// Builds the report's page into pkg/report/page, from where the program embeds it. With --check nothing is written: it fails if what is
// there is not what a build makes.
import { build } from 'esbuild';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const here = new URL('./', import.meta.url);
const out = new URL('../pkg/report/page/', here);

// Preact's licence wants its text in every copy, and its builds do not carry it.
const licence = (await readFile(new URL('node_modules/preact/LICENSE', here), 'utf8')).trim();
const { version } = JSON.parse(await readFile(new URL('node_modules/preact/package.json', here), 'utf8'));

const { outputFiles } = await build({
  absWorkingDir: fileURLToPath(here),
  entryPoints: { app: 'src/main.tsx', 'app-style': 'src/app.css' },
  outdir: fileURLToPath(out),
  bundle: true,
  minify: true,
  format: 'iife',
  target: 'es2022',
  charset: 'ascii',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  define: { 'process.env.NODE_ENV': '"production"' },
  banner: { js: `/*! Contains Preact ${version}\n\n${licence}\n*/` },
  legalComments: 'inline',
  write: false,
  logLevel: 'warning',
});

let stale = false;
await mkdir(out, { recursive: true });
for (const { path, contents } of outputFiles) {
  const file = new URL(path.endsWith('.css') ? 'app.css' : 'app.js', out);
  if (!process.argv.includes('--check')) {
    await writeFile(file, contents);
    continue;
  }
  const committed = await readFile(file).catch(() => Buffer.alloc(0));
  if (!committed.equals(contents)) {
    console.error(`error: ${fileURLToPath(file)} is not what web/ builds\nhint: make page`);
    stale = true;
  }
}
process.exitCode = stale ? 1 : 0;

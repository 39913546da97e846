// Bundles chaos/run.ts, which imports sources that Node 20 cannot read as they are, and runs it with the arguments given.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const folder = 'node_modules/.cache/parley';
mkdirSync(folder, { recursive: true });
const outfile = join(folder, 'chaos.mjs');
await build({
  entryPoints: ['chaos/run.ts'],
  outfile,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  packages: 'external',
  sourcemap: 'inline',
  logLevel: 'error',
});
process.setSourceMapsEnabled(true);
await import(pathToFileURL(outfile).href);

// Bundles chaos/run.ts, whose imports Node 20 cannot load directly, and runs it with the given arguments.
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const folder = 'node_modules/.cache/parley';
mkdirSync(folder, { recursive: true });
const outfile = join(folder, 'chaos.mjs');
/** The product's own modules are loaded from `dist-modules/`, where their Lua scripts are beside them. */
const fromDist = {
  name: 'from dist-modules',
  setup({ onResolve }) {
    onResolve({ filter: /^(?:\.\.\/)+src\/.*\.ts$/ }, ({ path }) => ({
      path: pathToFileURL(resolve('dist-modules', path.replace(/^.*?src\/(.*)\.ts$/, '$1.js'))).href,
      external: true,
    }));
  },
};
await build({
  entryPoints: ['chaos/run.ts'],
  outfile,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  packages: 'external',
  plugins: [fromDist],
  sourcemap: 'inline',
  logLevel: 'error',
});
process.setSourceMapsEnabled(true);
await import(pathToFileURL(outfile).href);

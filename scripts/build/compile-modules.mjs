import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { build as compile } from 'esbuild';
import { NODE_TARGET } from './node-target.mjs';

/** The page is a program of its own, in one bundle. */
const SOURCE = /^(?!simulator\/web\/).*(?<!\.d)\.ts$/;

/**
 * Compiles each module of the server to one file, which imports the others as in `src`.
 * @param target directory of the build
 */
export async function compileModules(target) {
  const sources = readdirSync('src', { recursive: true }).filter((path) => SOURCE.test(path));
  await compile({
    entryPoints: sources.map((path) => join('src', path)),
    outbase: 'src',
    outdir: target,
    bundle: true,
    platform: 'node',
    format: 'esm',
    ...NODE_TARGET,
    sourcemap: 'linked',
    sourcesContent: false,
    plugins: [oneByOne()],
    logLevel: 'silent',
  });
}

function oneByOne() {
  return {
    name: 'one-by-one',
    setup(build) {
      build.onResolve({ filter: /./ }, ({ path, kind }) =>
        kind === 'entry-point' ? undefined : { path: path.replace(/^(\..*)\.ts$/, '$1.js'), external: true },
      );
    },
  };
}

// Bundles each package that the server imports into a single file, for the modules that tests load one by one. In
// node_modules they are seven hundred small files, which would cost every test file half a second of CPU time.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build as bundle } from 'esbuild';
import { NODE_TARGET } from './node-target.mjs';
import { oneCopy } from './one-copy.mjs';

/**
 * Not bundled: packages that load their own files at run time (a compiled library, a thread's script), are imported in part,
 * or serve only the page.
 */
const LEFT_AS_THEY_ARE = [
  '@codemirror/legacy-modes',
  '@codemirror/streamparser',
  '@embedpdf/pdfium',
  'katex',
  'opencc-js',
  'pino',
  'pino-pretty',
  'preact',
  'sharp',
];

/** Optional compiled helpers that packages use if they are installed. */
const OPTIONAL = ['msgpackr-extract', 'bufferutil', 'utf-8-validate', 'canvas'];

/** What stays outside of bundles. */
export const NOT_BUNDLED = [...LEFT_AS_THEY_ARE, ...OPTIONAL];

/** Below `dist-modules/`, where Node looks before the `node_modules` beside it. */
const FOLDER = 'node_modules';

/** Globals that CommonJS packages expect and that a module does not have. */
export const BANNER = `import { createRequire as createRequireOf } from 'node:module';
const require = createRequireOf(import.meta.url);
const __filename = import.meta.filename;
const __dirname = import.meta.dirname;`;

/** @returns the bundled packages */
export function bundledPackages() {
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  return Object.keys(dependencies).filter((name) => !LEFT_AS_THEY_ARE.includes(name));
}

/**
 * Writes the packages into a build. Code that several of them use is written once, so that each class exists only once.
 * @param target directory of the build
 */
export async function bundlePackages(target) {
  const names = bundledPackages();
  const entries = join(target, FOLDER, '.entries');
  const outdir = join(target, FOLDER);
  const entryPoints = {};
  for (const name of names) {
    const entry = join(entries, `${name}.mjs`);
    mkdirSync(dirname(entry), { recursive: true });
    writeFileSync(entry, await exportsOf(name));
    entryPoints[`${name}/index`] = entry;
  }
  await bundle({
    entryPoints,
    outdir,
    outExtension: { '.js': '.mjs' },
    chunkNames: '.shared/[hash]',
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    ...NODE_TARGET,
    external: NOT_BUNDLED,
    banner: { js: BANNER },
    plugins: [oneCopy()],
    logLevel: 'silent',
  });
  rmSync(entries, { recursive: true });
  for (const name of names)
    writeFileSync(join(outdir, name, 'package.json'), `${JSON.stringify({ name, exports: './index.mjs' })}\n`);
}

/** Export names of a package as Node sees them; for CommonJS they cannot be read from the file. */
async function exportsOf(name) {
  // The mark of a CommonJS package is absent from its ES module, which esbuild prefers.
  const names = Object.keys(await import(name)).filter((each) => /^(?!__esModule$)[\w$]+$/.test(each));
  return `export { ${names.join(', ')} } from '${name}';\n`;
}

// Puts each package that the server imports into one file of its own. Read from node_modules they are seven hundred small
// files, which cost every start half a second of processor time and thirty megabytes, and every test file as much again.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build as bundle } from 'esbuild';
import { oneCopy } from './one-copy.mjs';

/** What looks for files of its own at run time (a compiled library, a thread's script), is imported in part, or serves the page only. */
const LEFT_AS_THEY_ARE = [
  '@codemirror/legacy-modes',
  '@codemirror/streamparser',
  '@embedpdf/pdfium',
  'opencc-js',
  'pino',
  'pino-pretty',
  'preact',
  'sharp',
];

/** Compiled helpers which packages use where they happen to be installed. */
const OPTIONAL = ['msgpackr-extract', 'bufferutil', 'utf-8-validate', 'canvas'];

/** Below `dist/`, where Node looks before the `node_modules` beside it. */
const FOLDER = 'node_modules';

/** What packages of CommonJS expect to find, and a module has not. */
const BANNER = `import { createRequire as createRequireOf } from 'node:module';
const require = createRequireOf(import.meta.url);
const __filename = import.meta.filename;
const __dirname = import.meta.dirname;`;

/** @returns the packages that are bundled */
export function bundledPackages() {
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  return Object.keys(dependencies).filter((name) => !LEFT_AS_THEY_ARE.includes(name));
}

/**
 * Writes the packages below a build. What several of them use is written once, so that there is one class of each name.
 * @param target the build's folder
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
    target: 'node20',
    external: [...LEFT_AS_THEY_ARE, ...OPTIONAL],
    banner: { js: BANNER },
    plugins: [oneCopy()],
    logLevel: 'error',
  });
  rmSync(entries, { recursive: true });
  for (const name of names)
    writeFileSync(join(outdir, name, 'package.json'), `${JSON.stringify({ name, exports: './index.mjs' })}\n`);
}

/** Names what a package exports as Node sees it, which for CommonJS cannot be read from a file. */
async function exportsOf(name) {
  const names = Object.keys(await import(name)).filter((each) => /^[\w$]+$/.test(each));
  return `export { ${names.join(', ')} } from '${name}';\n`;
}

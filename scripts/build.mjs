// Builds from src/: dist/, the bundled program that runs and ships, and dist-modules/, the same program with one file per
// module for tests, benchmarks and tools, which use single modules of it.
import { cpSync, existsSync, readdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build as bundle } from 'esbuild';
import { bundlePackages } from './build/bundle-packages.mjs';
import { bundleProgram } from './build/bundle-program.mjs';
import { compileModules } from './build/compile-modules.mjs';

const PAGE = 'src/simulator/web';
const WEB = relative('src', PAGE);
const COPIED_FILES = /\.(lua|css|html|svg|png)$/;
const COPIED_MODULES = /\.(lua|css|html|svg|png|mjs)$/;

/**
 * Builds beside the current folders and swaps them at the end, so that a failed build leaves the last good one.
 * @returns undefined, or the compiler's error output
 */
export async function build() {
  // A change during the compilation must count as newer than this build.
  const startedAt = new Date();
  const program = `dist-${process.pid}`;
  const modules = `dist-modules-${process.pid}`;
  try {
    await Promise.all([bundleProgram(program), bundlePage(program), compileModules(modules), bundlePackages(modules)]);
    cpSync(join(program, WEB), join(modules, WEB), { recursive: true });
    copyFiles(program, COPIED_FILES);
    copyFiles(modules, COPIED_MODULES);
    writeFileSync(join(program, '.built'), '');
    utimesSync(join(program, '.built'), startedAt, startedAt);
    replace('dist-modules', modules);
    replace('dist', program);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    rmSync(program, { recursive: true, force: true });
    rmSync(modules, { recursive: true, force: true });
  }
}

function replace(folder, built) {
  rmSync(folder, { recursive: true, force: true });
  renameSync(built, folder);
}

async function bundlePage(target) {
  const entry = join(PAGE, 'main.tsx');
  if (!existsSync(entry)) return;
  await bundle({
    // The style sheet of formulas is loaded only with the first formula.
    entryPoints: { main: entry, page: join(PAGE, 'page.css'), katex: 'katex/dist/katex.css' },
    loader: { '.woff2': 'file', '.woff': 'empty', '.ttf': 'empty' },
    outdir: join(target, WEB),
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    logLevel: 'silent',
  });
}

function copyFiles(target, pattern) {
  for (const path of readdirSync('src', { recursive: true })) {
    const source = join('src', path);
    const isBundled = path.endsWith('.css') && path.startsWith(join(WEB, '/'));
    if (pattern.test(path) && !isBundled && statSync(source).isFile()) cpSync(source, join(target, path));
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const fault = await build();
  if (fault) {
    console.error(fault);
    process.exitCode = 1;
  }
}

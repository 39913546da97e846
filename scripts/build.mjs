// Builds dist/ from src/: the server with tsc, its packages and the messenger's page with esbuild, and copies of all other
// files.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build as bundle } from 'esbuild';
import { bundlePackages } from './build/bundle-packages.mjs';

const PAGE = 'src/simulator/web';
const COPIED_FILES = /\.(lua|css|html|svg|png|mjs)$/;

/**
 * Builds beside the current dist and swaps them at the end, so that a failed build leaves the last good one.
 * @returns undefined, or the compiler's error output
 */
export async function build() {
  // A change during the compilation must count as newer than this build.
  const startedAt = new Date();
  const target = `dist-${process.pid}`;
  try {
    // The compiler is one process on one core; everything else runs in parallel.
    const compiled = compileServer(target);
    const pageFault = await bundlePage(target);
    const packages = await bundlePackages(target).then(
      () => undefined,
      (error) => error,
    );
    const fault = (await compiled) ?? pageFault;
    if (fault) return fault;
    if (packages) throw packages;
    copyFiles(target);
    writeFileSync(join(target, '.built'), '');
    utimesSync(join(target, '.built'), startedAt, startedAt);
    rmSync('dist', { recursive: true, force: true });
    renameSync(target, 'dist');
    return undefined;
  } finally {
    rmSync(target, { recursive: true, force: true });
  }
}

/** Types are checked by `npm run verify`; skipping them here makes a first start several seconds faster. */
async function compileServer(target) {
  const args = ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--noCheck', '--outDir', target];
  const compiler = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [compiler.stdout, compiler.stderr]) stream.on('data', (piece) => (said += piece));
  const [exitCode] = await once(compiler, 'close');
  return exitCode === 0 ? undefined : said || 'The compiler was terminated';
}

async function bundlePage(target) {
  const entry = join(PAGE, 'main.tsx');
  if (!existsSync(entry)) return undefined;
  try {
    await bundle({
      // The style sheet of formulas is loaded only with the first formula.
      entryPoints: { main: entry, katex: 'katex/dist/katex.css' },
      loader: { '.woff2': 'file', '.woff': 'empty', '.ttf': 'empty' },
      outdir: join(target, relative('src', PAGE)),
      bundle: true,
      splitting: true,
      minify: true,
      format: 'esm',
      target: 'es2022',
      jsx: 'automatic',
      jsxImportSource: 'preact',
      logLevel: 'silent',
    });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function copyFiles(target) {
  for (const path of readdirSync('src', { recursive: true })) {
    const source = join('src', path);
    if (COPIED_FILES.test(path) && statSync(source).isFile()) cpSync(source, join(target, path));
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const fault = await build();
  if (fault) {
    console.error(fault);
    process.exitCode = 1;
  }
}

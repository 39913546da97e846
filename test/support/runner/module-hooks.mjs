// How Node loads the modules of a test run (run-natively.mjs): TypeScript compiled by swc and kept on disk, packages as the
// server loads them, and the modules below `test` once for each test file, told apart by the query `?file=…`. With `?run=…`
// the modules of `src` are evaluated again too.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { transform } from '@swc/core';
import { bundledPackages } from '../../../scripts/build/bundle-packages.mjs';
import { compiledPath, pathOf } from './compiled-path.mjs';

const ROOT = new URL('../../../', import.meta.url);
const TESTS = new URL('test/', ROOT).href;
const SOURCES = new URL('src/', ROOT).href;
const PACKAGES = new URL('dist-modules/node_modules/', ROOT);
const BUNDLED = new Set(existsSync(PACKAGES) ? bundledPackages() : []);

/** The module has the exports of the file that is evaluated: one file runs at a time. */
const TEST_GLOBALS = `export const { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest, test } =
  globalThis[Symbol.for('test-globals')];`;

export async function resolve(specifier, context, resolveNext) {
  const query = /\?(?:file|run)=\d+$/.exec(context.parentURL ?? '')?.[0] ?? '';
  if (specifier === '@jest/globals') return { url: `test-globals:${query}`, shortCircuit: true };
  if (BUNDLED.has(specifier)) return { url: new URL(`${specifier}/index.mjs`, PACKAGES).href, shortCircuit: true };
  const resolved = await resolveNext(specifier, context);
  const isEvaluatedAgain =
    resolved.url.startsWith(TESTS) || (query.startsWith('?run') && resolved.url.startsWith(SOURCES));
  const isPlainModule = /\.m?[jt]s$/.test(resolved.url);
  return isEvaluatedAgain && isPlainModule ? { ...resolved, url: resolved.url + query } : resolved;
}

export async function load(url, context, loadNext) {
  if (url.startsWith('test-globals:')) return { format: 'module', source: TEST_GLOBALS, shortCircuit: true };
  if (!/^file:.*\.ts(\?.*)?$/.test(url)) return loadNext(url, context);
  return { format: 'module', source: await compile(url), shortCircuit: true };
}

async function compile(url) {
  const source = readFileSync(pathOf(url), 'utf8');
  const kept = compiledPath(url, source);
  if (existsSync(kept)) return readFileSync(kept, 'utf8');
  const { code, map } = await transform(source, {
    filename: pathOf(url),
    sourceMaps: true,
    jsc: { parser: { syntax: 'typescript' }, target: 'es2023' },
    module: { type: 'es6' },
  });
  mkdirSync(dirname(kept), { recursive: true });
  keep(`${kept}.map`, map);
  keep(kept, code);
  return code;
}

/** Other jest processes see a file only when it is complete. */
function keep(path, text) {
  writeFileSync(`${path}.${process.pid}`, text);
  renameSync(`${path}.${process.pid}`, path);
}

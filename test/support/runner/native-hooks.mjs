// Module hooks of the test runner (native-runner.mjs): TypeScript by swc, with its results kept on disk.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { transformSync } from '@swc/core';
import { bundledPackages } from '../../../scripts/build/bundle-packages.mjs';

const ROOT = new URL('../../../', import.meta.url);
const TESTS = new URL('test/', ROOT).href;
const BUNDLED = new Set(existsSync(new URL('dist/node_modules', ROOT)) ? bundledPackages() : []);
const CACHE = join(tmpdir(), `parley-tests-${process.getuid?.() ?? 0}`);
mkdirSync(CACHE, { recursive: true });

const GLOBALS = `const globals = globalThis[Symbol.for('parley.jest-globals')];
export const { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest, test } = globals;`;

export async function resolve(specifier, context, next) {
  const query = context.parentURL?.match(/\?file=\d+$/)?.[0];
  if (specifier === '@jest/globals') return { url: `jest-globals:${query ?? ''}`, shortCircuit: true };
  if (BUNDLED.has(specifier))
    return { url: new URL(`dist/node_modules/${specifier}/index.mjs`, ROOT).href, shortCircuit: true };
  if (specifier.startsWith('.') && specifier.endsWith('.ts') && context.parentURL) {
    const url = new URL(specifier, context.parentURL);
    url.search = query && url.href.startsWith(TESTS) ? query : '';
    return { url: url.href, format: 'module', shortCircuit: true };
  }
  const resolved = await next(specifier, context);
  if (query && resolved.url.startsWith(TESTS) && !resolved.url.includes('?') && resolved.format === 'module')
    return { ...resolved, url: resolved.url + query };
  return resolved;
}

export async function load(url, context, next) {
  if (url.startsWith('jest-globals:')) return { format: 'module', source: GLOBALS, shortCircuit: true };
  const path = url.replace(/\?.*$/, '');
  if (path.startsWith('file:') && path.endsWith('.ts'))
    return { format: 'module', source: compiled(fileURLToPath(path)), shortCircuit: true };
  return next(url, context);
}

function compiled(path) {
  const source = readFileSync(path, 'utf8');
  const kept = join(CACHE, createHash('sha1').update(path).update('\0').update(source).digest('hex'));
  if (existsSync(kept)) return readFileSync(kept, 'utf8');
  const { code } = transformSync(source, {
    filename: path,
    sourceMaps: 'inline',
    jsc: { parser: { syntax: 'typescript' }, target: 'es2023' },
    module: { type: 'es6' },
  });
  writeFileSync(`${kept}.${process.pid}`, code);
  renameSync(`${kept}.${process.pid}`, kept);
  return code;
}

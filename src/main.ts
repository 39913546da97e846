#!/usr/bin/env node
import module from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * V8's compiled code of earlier starts, kept beside the program and renewed with it. Node 20 has no such cache. Where it
 * cannot be written it is only read.
 */
const CODE_CACHE = fileURLToPath(new URL('./.cache', import.meta.url));

const { enableCompileCache } = module as { enableCompileCache?: (folder: string) => unknown };
if (enableCompileCache) {
  enableCompileCache(CODE_CACHE);
  // For the worker's own process.
  process.env['NODE_COMPILE_CACHE'] ??= CODE_CACHE;
}
// Only code that is imported from here on comes from the cache.
await import('./cli/run-command.ts');

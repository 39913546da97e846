// Fills the code cache of src/main.ts for an image, whose processes cannot write it: V8 compiles all that a process may load.
// Runs as the user and with the flags of those processes, because the cache holds only for both.
import { chmodSync, readdirSync } from 'node:fs';
import module from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const CACHE = resolve('dist/.cache');
const CHUNKS = resolve('dist/chunks');

// Node 20 has no such cache.
if (!module.flushCompileCache) process.exit();
module.enableCompileCache(CACHE);
// The chunk of the command line runs a command when it is loaded.
process.argv.push('--version');
for (const name of readdirSync(CHUNKS).filter((each) => each.endsWith('.js')))
  await import(pathToFileURL(join(CHUNKS, name)).href);
module.flushCompileCache();
// Node lets only the owner read it; in the image root owns it.
for (const path of readdirSync(CACHE, { recursive: true })) chmodSync(join(CACHE, path), 0o755);
process.exit();

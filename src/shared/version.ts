import { readFileSync } from 'node:fs';

/** The version of this build, from `package.json`, which lies beside `src/` and `dist/`. */
export const VERSION = (
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
).version;

/** What `GET /version` answers. */
export const BUILD = { name: 'parley', version: VERSION, node: process.versions.node };

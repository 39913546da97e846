import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('../../../node_modules/.cache/parley/tests', import.meta.url));

/** @returns where the compiled text of a TypeScript file is kept; its source map has the same name with `.map` */
export function compiledPath(url, source = readFileSync(pathOf(url), 'utf8')) {
  return `${FOLDER}/${createHash('sha256')
    .update(`${pathOf(url)}\0${source}`)
    .digest('hex')}.js`;
}

/** @returns the path of a module, from its address with or without a query */
export function pathOf(url) {
  return url.startsWith('file:') ? fileURLToPath(url.replace(/\?.*$/, '')) : url.replace(/\?.*$/, '');
}

// npm installs a package once more beside each one that wants another version than the others; so the same version may lie
// in several places. Each copy would be bundled, read at each start and evaluated.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a module asks for by the name of a package. */
const OF_A_PACKAGE = /^[^./]/;

/** An esbuild plugin that takes each version of a package from one place only. */
export function oneCopy() {
  const firstPlaces = new Map();
  return {
    name: 'one-copy',
    setup(build) {
      build.onResolve({ filter: OF_A_PACKAGE }, async ({ path, kind, importer, resolveDir, namespace, pluginData }) => {
        // Asked by ourselves, below.
        if (pluginData === oneCopy || kind === 'entry-point') return undefined;
        const found = await build.resolve(path, { kind, importer, resolveDir, namespace, pluginData: oneCopy });
        // What cannot be found is told, or borne, as without us.
        if (found.external || found.errors.length > 0) return undefined;
        const folder = packageFolder(found.path);
        if (folder === undefined) return found;
        const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
        const first = firstPlaces.get(`${name}@${version}`) ?? folder;
        firstPlaces.set(`${name}@${version}`, first);
        return { ...found, path: first + found.path.slice(folder.length) };
      });
    },
  };
}

/** @returns where the package lies that a file belongs to; undefined where it belongs to none */
function packageFolder(path) {
  return /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0];
}

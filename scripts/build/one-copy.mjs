// npm installs another copy of a package beside each dependent that needs a different version than the others, so the same
// version may be in several places. Each copy would be bundled, loaded at each start and evaluated.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** An import by package name. */
const OF_A_PACKAGE = /^[^./]/;

/** An esbuild plugin that resolves each version of a package to one place. */
export function oneCopy() {
  const firstPlaces = new Map();
  return {
    name: 'one-copy',
    setup(build) {
      build.onResolve({ filter: OF_A_PACKAGE }, async ({ path, kind, importer, resolveDir, namespace, pluginData }) => {
        // Resolution started by this plugin, below.
        if (pluginData === oneCopy || kind === 'entry-point') return undefined;
        const found = await build.resolve(path, { kind, importer, resolveDir, namespace, pluginData: oneCopy });
        // A package that cannot be found is reported or tolerated as without this plugin.
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

/** @returns directory of the package that contains a file; undefined if there is none */
function packageFolder(path) {
  return /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0];
}

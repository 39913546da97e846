// Bundles the program for production: one entry file per kind of process, and chunks that several of them share. Read module
// by module, every start would load some five hundred small files.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { build as bundle } from 'esbuild';
import { NODE_TARGET } from './node-target.mjs';
import { BANNER, NOT_BUNDLED } from './bundle-packages.mjs';
import { oneCopy } from './one-copy.mjs';

/** What a process or a thread starts with. Each command and each role has its own bundle, because it is imported dynamically. */
const ENTRIES = [
  'main.ts',
  'bot/app/local-worker-process.ts',
  'bot/knowledge/documents/reader.ts',
  'bot/knowledge/index/index-program.ts',
  'bot/platforms/split-thread.ts',
  'bot/tools/page/readable-text-worker.mjs',
  'bot/turn/conversation/images/decoder.mjs',
  'service/chat/request-reader.ts',
  'service/oauth/argon2-thread.mjs',
];

/** Stands for the path from an output file to the folder of the build, which is known only at the end. */
const TO_BUILD = 'path-to-the-build:';

/** @param target directory of the build */
export async function bundleProgram(target) {
  const { outputFiles } = await bundle({
    entryPoints: ENTRIES.map((path) => ({ in: join('src', path), out: path.replace(/\.ts$/, '') })),
    outdir: target,
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    // V8 keeps the text. Names stay, for logs and metrics that show them.
    minifyWhitespace: true,
    minifySyntax: true,
    platform: 'node',
    format: 'esm',
    ...NODE_TARGET,
    external: NOT_BUNDLED,
    banner: { js: BANNER },
    sourcemap: 'linked',
    sourcesContent: false,
    plugins: [modulePlaces(), oneCopy(), withoutPackageMaps()],
    write: false,
    logLevel: 'silent',
  });
  for (const { path, text } of outputFiles) {
    const place = path.replace(/\.mjs\.js(?=$|\.map$)/, '.mjs');
    const toBuild = relative(dirname(place), resolve(target)).split(sep).join('/') || '.';
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, text.replaceAll(TO_BUILD, `${toBuild}/`).replaceAll('.mjs.js.map', '.mjs.map'));
  }
}

/** A module finds the files beside it (Lua scripts, style sheets, entry files) by its own place, not by that of its bundle. */
function modulePlaces() {
  const root = resolve('src');
  return {
    name: 'module-places',
    setup(build) {
      build.onLoad({ filter: /\.(ts|mjs)$/ }, ({ path }) => {
        if (!path.startsWith(root + sep)) return undefined;
        const place = relative(root, path).split(sep).join('/').replace(/\.ts$/, '.js');
        const own = `new URL('${TO_BUILD}${place}', import.meta.url).href`;
        const contents = readFileSync(path, 'utf8').replaceAll('import.meta.url', own);
        return { contents, loader: path.endsWith('.ts') ? 'ts' : 'js' };
      });
    },
  };
}

/** Positions in packages are not needed, and would be most of a source map. */
function withoutPackageMaps() {
  const empty = Buffer.from('{"version":3,"sources":[""],"mappings":"A"}').toString('base64');
  return {
    name: 'without-package-maps',
    setup(build) {
      build.onLoad({ filter: /\/node_modules\/.*\.[cm]?js$/ }, ({ path }) => ({
        contents: `${readFileSync(path, 'utf8')}\n//# sourceMappingURL=data:application/json;base64,${empty}`,
        loader: 'default',
      }));
    },
  };
}

// Jest's transform: swc, and before it, in a run of `npm run mutants`, one change to one source file. The change is made
// in memory only, and named by the environment, so that jest's own workers know it too.
import swcJest from '@swc/jest';
import './compile-once.mjs';

/** Where Lua scripts are read; a change to one of them is put in here. */
const LUA_READER = { file: '/src/shared/redis/lua-script.ts', read: "readFileSync(new URL(path, base), 'utf8')" };

const mutant = process.env.MUTANT === undefined ? undefined : JSON.parse(process.env.MUTANT);

export default {
  createTransformer(options) {
    const swc = swcJest.createTransformer(options);
    return {
      ...swc,
      process: (source, path, ...rest) => swc.process(changed(source, path), path, ...rest),
      processAsync: (source, path, ...rest) => swc.processAsync(changed(source, path), path, ...rest),
      // Of the changed source, so that neither kind of run is given the other's result.
      getCacheKey: (source, path, ...rest) => swc.getCacheKey(changed(source, path), path, ...rest),
    };
  },
};

function changed(source, path) {
  if (mutant === undefined) return source;
  const { file, find, replace } = mutant;
  if (path.endsWith(`/${file}`)) return replaceOnce(source, find, replace);
  if (!file.endsWith('.lua') || !path.endsWith(LUA_READER.file)) return source;
  const isIt = `new URL(path, base).pathname.endsWith(${JSON.stringify(`/${file}`)})`;
  const change = `((lua) => (${isIt} ? lua.replace(${JSON.stringify(find)}, () => ${JSON.stringify(replace)}) : lua))`;
  return replaceOnce(source, LUA_READER.read, `${change}(${LUA_READER.read})`);
}

/** A text as it stands: `$` in a replacement means nothing. */
function replaceOnce(source, find, replace) {
  if (source.split(find).length !== 2) throw new Error(`Not exactly once in the source: ${find}`);
  return source.replace(find, () => replace);
}

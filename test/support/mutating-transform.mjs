// Jest's transform: swc. In an `npm run mutants` run the environment names one source file and a file with its changed text;
// jest and the code under test read that text instead. Nothing on disk changes.
import fs from 'node:fs';
import { resolve } from 'node:path';
import swcJest from '@swc/jest';

/** Of the current run; a process runs one mutant after another. */
let mutant = { named: undefined, file: undefined, text: undefined };

function currentMutant() {
  const named = process.env.MUTANT;
  if (named !== mutant.named) {
    const { file, changed } = JSON.parse(named);
    mutant = { named, file: resolve(file), text: originalRead(changed, 'utf8') };
  }
  return mutant;
}

const originalRead = fs.readFileSync;
if (process.env.MUTANTS !== undefined) {
  // Lua scripts are read at run time. Jest hands this module object to the code under test.
  fs.readFileSync = (path, ...rest) => {
    const isScript = path instanceof URL && path.pathname.endsWith('.lua');
    return isScript && path.pathname === currentMutant().file ? mutant.text : originalRead(path, ...rest);
  };
}

export default {
  createTransformer(options) {
    const swc = swcJest.createTransformer(options);
    if (process.env.MUTANTS === undefined) return swc;
    const textOf = (path, source) => (path === currentMutant().file ? mutant.text : source);
    return {
      ...swc,
      process: (source, path, ...rest) => swc.process(textOf(path, source), path, ...rest),
      processAsync: (source, path, ...rest) => swc.processAsync(textOf(path, source), path, ...rest),
      // Jest's configuration differs with every mutant, the transformed text of the other files does not.
      getCacheKey: (source, path, given) => swc.getCacheKey(textOf(path, source), path, { ...given, configString: '' }),
    };
  },
};

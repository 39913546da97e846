// Jest evaluates every module again for each test file, and makes V8 compile it again too. Reusing V8's cached data for the
// same text saves a fifth of the loading time of a test file that loads the whole server.
import vm from 'node:vm';

const { SourceTextModule } = vm;
/** Compiled code of this jest process, by the module's file. */
const compiled = new Map();
const COMMENT = /\/\*[\s\S]*?\*\/|(?<!:)\/\/[^\n]*/g;

/**
 * A module compiled from cached data cannot import another module later. The packages do that only in functions that are not
 * used here, and are the largest modules.
 */
const importsLater = (source, path) =>
  !path.includes('/dist/node_modules/') && /\bimport\s*\(/.test(source.replace(COMMENT, ''));

class CompiledOnce extends SourceTextModule {
  constructor(source, options) {
    const known = compiled.get(options.identifier);
    const isKnown = known?.source === source;
    try {
      super(source, isKnown ? { ...options, cachedData: known.data } : options);
    } catch (thrown) {
      // V8 refuses its data after a change of its flags.
      if (thrown.code !== 'ERR_VM_MODULE_CACHED_DATA_REJECTED') throw thrown;
      super(source, options);
    }
    if (isKnown) return;
    const data = importsLater(source, options.identifier) ? undefined : this.createCachedData();
    compiled.set(options.identifier, { source, data });
  }
}

vm.SourceTextModule = CompiledOnce;

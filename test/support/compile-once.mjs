// Jest evaluates every module anew for each test file, as it must, and has V8 compile it anew too. What V8 made of the same
// text before can be given back to it, which takes a fifth off the loading of a test file that needs all of the server.
import vm from 'node:vm';

const { SourceTextModule } = vm;
/** What was compiled, in this process of jest's, by the module's file. */
const compiled = new Map();
const COMMENT = /\/\*[\s\S]*?\*\//g;

/** A module that is made from what was compiled gives Node no way to import another one later on. */
const importsLater = (source) => /\bimport\s*\(/.test(source.replace(COMMENT, ''));

class CompiledOnce extends SourceTextModule {
  constructor(source, options) {
    const known = compiled.get(options.identifier);
    const isKnown = known?.source === source;
    super(source, isKnown ? { ...options, cachedData: known.data } : options);
    if (isKnown) return;
    const data = importsLater(source) ? undefined : this.createCachedData();
    compiled.set(options.identifier, { source, data });
  }
}

vm.SourceTextModule = CompiledOnce;

// Runs a test file with jest's own test framework, but lets Node load its modules. Jest evaluates every module again for each
// test file, which costs a file that starts the server about 1.5 s of processor time. Here the modules of `src` and the
// packages are evaluated once per jest process. Those below `test` are evaluated for each file: they register its hooks.
import { createRequire, register } from 'node:module';
import { pathToFileURL } from 'node:url';
import circus from 'jest-circus/runner';
import { compiledPath } from './compiled-path.mjs';

const require = createRequire(import.meta.url);
const runWithJest = circus.default;

/** Where the framework keeps the event handlers and the time limit of a file. */
const EVENT_HANDLERS = Symbol.for('EVENT_HANDLERS');
const TIMEOUT_MS = Symbol.for('TEST_TIMEOUT_SYMBOL');
/** Where `@jest/globals` of a test file finds its exports (module-hooks.mjs). */
const GLOBALS = Symbol.for('test-globals');

let ranFiles = 0;

/** Jest's configuration names this function as `testRunner`. @returns the results of the file */
export default async function runNatively(globalConfig, config, environment, runtime, testPath, sendMessageToJest) {
  if (ranFiles === 0) register('./module-hooks.mjs', import.meta.url);
  ranFiles += 1;
  showSourceLines(runtime.getSourceMaps());
  const variables = { ...process.env };
  const ownConsole = globalThis.console;
  globalThis.console = environment.global.console;
  try {
    // While somebody edits, `src` is evaluated for each run too.
    const query = globalConfig.watch || globalConfig.watchAll ? `?run=${ranFiles}` : `?file=${ranFiles}`;
    const loader = createLoader({ runtime, mocker: environment.moduleMocker, query });
    return await runWithJest(globalConfig, config, environment, loader, testPath, sendMessageToJest);
  } finally {
    globalThis.console = ownConsole;
    for (const name of Object.keys(process.env)) if (!(name in variables)) delete process.env[name];
    Object.assign(process.env, variables);
  }
}

/** The part of jest's module loader that its framework uses. */
function createLoader({ runtime, mocker, query }) {
  const jest = {
    restoreAllMocks: () => mocker.restoreAllMocks(),
    setTimeout: (ms) => (globalThis[TIMEOUT_MS] = ms),
    spyOn: mocker.spyOn.bind(mocker),
  };
  return {
    requireInternalModule(path) {
      // Evaluated again, the framework forgets the tests and handlers of the file before.
      for (const state of [EVENT_HANDLERS, TIMEOUT_MS]) delete globalThis[state];
      delete require.cache[path];
      return require(path);
    },
    requireModule: require,
    setGlobalsForRuntime: (globals) => (globalThis[GLOBALS] = { ...globals, jest }),
    unstable_shouldLoadAsEsm: () => true,
    unstable_importModule: (path) => import(pathToFileURL(path).href + query),
    enterTestCode: () => undefined,
    leaveTestCode: () => undefined,
    getSourceMaps: () => runtime.getSourceMaps(),
    restoreAllMocks: () => mocker.restoreAllMocks(),
  };
}

/** Stack traces show the lines of the TypeScript sources: jest asks this map for the source map of a compiled module. */
function showSourceLines(sourceMaps) {
  sourceMaps.get = (url) => (/\.ts(\?.*)?$/.test(url) ? `${compiledPath(url)}.map` : undefined);
}

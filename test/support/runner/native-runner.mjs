// Jest's test runner, with one difference: test files are loaded by Node itself. Jest would evaluate all modules of the
// server again for each test file, in a context of its own. Here the modules of `src` and the packages are evaluated once for
// each jest process, and stay compiled; those below `test/` are evaluated for each test file, since they register hooks.
import { createRequire, register } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ModuleMocker } from 'jest-mock';

const require = createRequire(import.meta.url);
const adapter = require('jest-circus/runner');
const runFile = adapter.default ?? adapter;

const TIMEOUT = Symbol.for('TEST_TIMEOUT_SYMBOL');
const EVENT_HANDLERS = Symbol.for('EVENT_HANDLERS');
/** Where the module `@jest/globals` of a test file finds its exports (native-hooks.mjs). */
const GLOBALS = Symbol.for('parley.jest-globals');

let files = 0;

export default async function runNatively(globalConfig, config, environment, runtime, testPath, sendMessageToJest) {
  if (files === 0) register('./native-hooks.mjs', import.meta.url);
  files += 1;
  const query = `?file=${files}`;
  const environmentBefore = { ...process.env };
  const mocker = new ModuleMocker(globalThis);
  const jest = {
    fn: mocker.fn.bind(mocker),
    spyOn: mocker.spyOn.bind(mocker),
    restoreAllMocks: mocker.restoreAllMocks.bind(mocker),
    setTimeout: (ms) => {
      globalThis[TIMEOUT] = ms;
    },
  };
  // Circus keeps the handlers of a file for ever.
  delete globalThis[EVENT_HANDLERS];
  delete globalThis[TIMEOUT];
  const circus = require.resolve('jest-circus/runner').replace(/runner\.js$/, 'jestAdapterInit.js');
  delete require.cache[circus];
  const native = {
    requireInternalModule: (path) => require(path),
    requireModule: (path) => require(path),
    setGlobalsForRuntime: (globals) => {
      globalThis[GLOBALS] = { ...globals, jest };
    },
    unstable_shouldLoadAsEsm: () => true,
    unstable_importModule: (path) => import(pathToFileURL(path).href + query),
    enterTestCode: () => undefined,
    leaveTestCode: () => undefined,
    resetModules: () => undefined,
    clearAllMocks: () => mocker.clearAllMocks(),
    resetAllMocks: () => mocker.resetAllMocks(),
    restoreAllMocks: () => mocker.restoreAllMocks(),
    getSourceMaps: () => runtime.getSourceMaps(),
  };
  const console = globalThis.console;
  globalThis.console = environment.global.console;
  try {
    return await runFile(globalConfig, config, environment, native, testPath, sendMessageToJest);
  } finally {
    globalThis.console = console;
    for (const name of Object.keys(process.env)) if (!(name in environmentBefore)) delete process.env[name];
    Object.assign(process.env, environmentBefore);
  }
}

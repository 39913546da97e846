import { existsSync, readFileSync } from 'node:fs';
import { bundledPackages } from './scripts/build/bundle-packages.mjs';

/** Node loads the modules: most of them once per jest process. */
const NATIVE = { testRunner: '<rootDir>/test/support/runner/run-natively.mjs' };

/**
 * Jest loads the modules: all of them for each test file, each of which may test another mutant. The packages are bundled, as
 * for the server.
 */
const MUTABLE = {
  moduleNameMapper: existsSync('dist-modules/node_modules')
    ? { [`^(${bundledPackages().join('|')})$`]: '<rootDir>/dist-modules/node_modules/$1/index.mjs' }
    : {},
};

/** The folders of the fast tier: the tests of the modules of `src`, and those of the project itself. */
const FAST_FOLDERS = ['bot', 'cli', 'house', 'mutants', 'service', 'shared', 'simulator'];

/** The end-to-end tests of the fast tier: one journey per feature and platform, and the pages in Chromium. */
const JOURNEYS = [
  'browser',
  'dialects',
  'knowledge',
  'slack-commands',
  'slack-journey',
  'tools',
  'two-platforms',
  'typed-code',
  'wecom-journey',
].map((name) => `e2e/${name}`);

/** What each tier runs. The fast tier leaves out the files of test/slow-files.json, except for the journeys. */
const TEST_FILES = {
  fast: [`**/test/{${FAST_FOLDERS.join(',')}}/**/!(*.long).test.ts`, `**/test/{${JOURNEYS.join(',')}}.test.ts`],
  full: ['**/!(*.long).test.ts'],
  // What takes minutes, and the property tests, fuzzers and tables that are larger in this tier (test/support/tries.ts).
  long: [
    '**/*.long.test.ts',
    '**/identity/{forwarded-link,sign-in-attacks}.test.ts',
    '**/e2e/{abilities,admin-traces,answer-file,awkward-engines,chat-faults,eval,files-killed,first-burst,repeated-deliveries,slash-words,wecom-answer-file}.test.ts',
    '**/injection/injections.test.ts',
    '**/knowledge/{index-search,sitemap}.test.ts',
    '**/markdown/*.test.ts',
    '**/text-cost/*.test.ts',
    '**/*-fuzz.test.ts',
    '**/images/image-header.test.ts',
    '**/queue/torn-file.test.ts',
    '**/wecom/connection-refusals.test.ts',
    '**/spec/sign-in-code-model.test.ts',
    '**/model/engine-capacity.test.ts',
    '**/model/stream/{stream-decoder,chunk-reader}.test.ts',
  ],
};
const { waits, works } = JSON.parse(readFileSync(new URL('test/slow-files.json', import.meta.url), 'utf8'));
const SLOW = Object.keys({ ...waits, ...works }).filter((name) => !JOURNEYS.includes(name));

// A path on the command line asks for all of its tests: `npm test -- test/e2e/files`.
const isNarrowed = process.argv.slice(2).some((argument) => !argument.startsWith('-') && argument.includes('/'));
const TIER = process.env.TEST_TIER ?? (isNarrowed ? 'full' : 'fast');
// For the tests, whose processes do not see the command line.
process.env.TEST_TIER = TIER;

/** Tests run the TypeScript sources, compiled by swc, as native ES modules. */
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testMatch: TEST_FILES[TIER],
  testPathIgnorePatterns: TIER === 'fast' ? SLOW.map((name) => `/test/${name}\\.test\\.ts$`) : [],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '<rootDir>/test/support/mutating-transform.mjs',
      { jsc: { parser: { syntax: 'typescript' }, target: 'es2023' }, module: { type: 'es6' } },
    ],
  },
  ...(process.env.MUTANTS === undefined ? NATIVE : MUTABLE),
  // What the tests left is searched for secrets at the end of every run.
  globalSetup: '<rootDir>/test/support/evidence/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/evidence/global-teardown.ts',
  setupFilesAfterEnv: ['<rootDir>/test/support/evidence/observe-http.ts'],
  // What hangs is found all the same; what is slow beside other work is no fault.
  testTimeout: 60_000,
  testSequencer: '<rootDir>/test/support/longest-first.mjs',
  // Most tests wait most of the time: for a clock, a process, a server. The order sees to it that about three of them do at
  // any time; what two cores can work at is left then.
  maxWorkers: 4,
  // A worker keeps much of every file that it has run.
  workerIdleMemoryLimit: '800MB',
};

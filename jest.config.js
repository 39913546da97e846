import { existsSync } from 'node:fs';
import { bundledPackages } from './scripts/build/bundle-packages.mjs';

/** As the server runs them: read file by file they would cost each of some three hundred test files half a second. */
const PACKAGES = existsSync('dist/node_modules')
  ? { [`^(${bundledPackages().join('|')})$`]: '<rootDir>/dist/node_modules/$1/index.mjs' }
  : {};

/** Tests run the TypeScript sources through swc as native ES modules (got is ESM only). */
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  // What takes minutes, and large numbers of tries, run by `npm run test:long` only.
  testMatch: process.env.TEST_LONG
    ? [
        '**/*.long.test.ts',
        '**/identity/{forwarded-link,sign-in-attacks}.test.ts',
        '**/e2e/{answer-file,first-burst,repeated-deliveries}.test.ts',
        '**/markdown/*.test.ts',
        '**/text-cost/*.test.ts',
        '**/*-fuzz.test.ts',
        '**/images/image-header.test.ts',
        '**/queue/torn-file.test.ts',
        '**/spec/sign-in-code-model.test.ts',
        '**/model/stream/{stream-decoder,chunk-reader}.test.ts',
      ]
    : ['**/!(*.long).test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: PACKAGES,
  transform: {
    '^.+\\.ts$': [
      '<rootDir>/test/support/mutating-transform.mjs',
      { jsc: { parser: { syntax: 'typescript' }, target: 'es2023' }, module: { type: 'es6' } },
    ],
  },
  // What the tests left is searched for secrets at the end of every run.
  globalSetup: '<rootDir>/test/support/evidence/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/evidence/global-teardown.ts',
  setupFilesAfterEnv: ['<rootDir>/test/support/evidence/observe-http.ts', '<rootDir>/test/support/retry-in-ci.ts'],
  // What hangs is found all the same; what is slow beside other work is no fault.
  testTimeout: 60_000,
  testSequencer: '<rootDir>/test/support/longest-first.mjs',
  // Most tests wait most of the time: for a clock, a process, a server. The order sees to it that about three of them do at
  // any time; what two cores can work at is left then.
  maxWorkers: 4,
  // A worker keeps much of every file that it has run.
  workerIdleMemoryLimit: '800MB',
};

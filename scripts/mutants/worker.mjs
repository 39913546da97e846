// Runs the tests of one mutant after another in this process, which saves most of jest's start.
import { runCLI } from 'jest';

process.on('message', async ({ id, file, changed, test, pattern }) => {
  process.env.MUTANT = JSON.stringify({ file, changed });
  const options = {
    ...{ runInBand: true, silent: true, watchman: false, reporters: [] },
    ...{ runTestsByPath: true, _: [`test/${test}.test.ts`], testNamePattern: pattern },
    // Jest keeps transformed files in memory for each configuration.
    globals: JSON.stringify({ mutant: id }),
  };
  const { results } = await runCLI({ $0: 'jest', ...options }, [process.cwd()]);
  const tests = results.testResults.flatMap(({ testResults }) => testResults);
  process.send({
    error: results.numRuntimeErrorTestSuites > 0 ? results.testResults[0]?.failureMessage : undefined,
    passed: results.numPassedTests,
    failed: tests.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName),
  });
});
process.on('disconnect', () => process.exit());

import { describe, expect, test } from '@jest/globals';
import { runChecks, type Check } from '../../../src/cli/check/run-checks.ts';
import type { CheckResult } from '../../../src/bot/platforms/platform.ts';

const OK: CheckResult = { name: 'Redis', verdict: 'ok', detail: 'answers' };
const WARNING: CheckResult = { name: 'Chat models', verdict: 'warning', detail: 'not listed', nextStep: 'Choose' };
const FAULT: CheckResult = { name: 'WeCom', verdict: 'fault', detail: 'refused', nextStep: 'Copy the secret' };

function checkOf(...results: CheckResult[]): Check {
  return { name: 'part', run: () => Promise.resolve(results) };
}

async function run(checks: Check[], isTTY = false): Promise<{ code: number; text: string }> {
  let text = '';
  const code = await runChecks(checks, { isTTY, write: (piece) => (text += piece) });
  return { code, text };
}

describe('runChecks', () => {
  test('prints aligned lines in order, and fails only if there is a fault', async () => {
    expect(await run([checkOf(OK, WARNING), checkOf(FAULT)])).toEqual({
      code: 1,
      text:
        'ok       Redis        answers\n' +
        'warning  Chat models  not listed → Choose\n' +
        'fault    WeCom        refused → Copy the secret\n' +
        '\n1 check passed, 1 warning, 1 to fix\n',
    });
    expect((await run([checkOf(OK, WARNING)])).code).toBe(0);
  });

  test('counts hints apart, since they are no failures', async () => {
    const { code, text } = await run([checkOf(OK, OK, { ...WARNING, verdict: 'hint' })]);
    expect(text).toMatch(/\nhint +Chat models .*\n\n2 checks passed, 1 hint, 0 warnings, 0 to fix\n$/);
    expect(code).toBe(0);
  });

  test('prints one JSON object for programs', async () => {
    let text = '';
    const code = await runChecks([checkOf(OK, FAULT)], { write: (piece) => (text += piece), isJson: true });
    expect(code).toBe(1);
    expect(JSON.parse(text)).toEqual({ passed: 1, hints: 0, warnings: 0, faults: 1, checks: [OK, FAULT] });
  });

  test('uses colours on a terminal', async () => {
    expect((await run([checkOf(OK)], true)).text).toContain('\u001b[32mok');
    expect((await run([checkOf(OK)])).text).not.toContain('\u001b');
  });

  test('reports a check that throws as a fault without its message', async () => {
    const broken: Check = { name: 'WeCom', run: () => Promise.reject(new RangeError('token=abc')) };
    const { code, text } = await run([broken, checkOf(OK)]);
    expect(code).toBe(1);
    expect(text).toContain('the check itself failed (RangeError)');
    expect(text).not.toContain('abc');
    expect(text).toContain('Redis');
  });
});

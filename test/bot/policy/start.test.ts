import { afterAll, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startParleyProcess } from '../../support/parley-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-policy-'));
afterAll(() => rmSync(folder, { recursive: true }));

const path = join(folder, 'policy.json');
writeFileSync(
  path,
  JSON.stringify({
    rules: [
      { name: 'staff', who: { identity: ['JS'] }, may: { use: true, models: ['gpt'], private: true, groups: [] } },
    ],
    otherwise: { use: false },
  }),
);
const env = { POLICY_FILE: path, DATA_DIR: folder };
const faults = [
  `POLICY_FILE (${path}): rules[0].who.identity[0]: Must be one of JG, XS, QT`,
  `POLICY_FILE (${path}): rules[0].may.models[0]: "gpt" is not in CHAT_MODELS (svc-plus, svc-max)`,
  `POLICY_FILE (${path}): rules[0].may.groups: Must not be empty: name at least one`,
];

test('an unusable policy ends the start with exit code 2 and names every fault with its place [checked-at-start]', async () => {
  const parley = await startParleyProcess({ env });
  expect(await parley.ended).toBe(2);
  for (const fault of faults) expect(parley.output()).toContain(fault);
});

test('npm run check names the faults of an unusable policy and exits with 1', async () => {
  const parley = await startParleyProcess({ env, command: ['node', 'dist/main.js', 'check'] });
  expect(await parley.ended).toBe(1);
  for (const fault of faults) expect(parley.output()).toMatch(new RegExp(`fault +Files +.*${escapeRegExp(fault)}`));
});

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

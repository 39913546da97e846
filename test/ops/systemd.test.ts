import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { describeSetting } from '../../src/bot/config/describe-settings.ts';
import { SETTING_NAMES } from '../../src/bot/config/schema.ts';

const FOLDER = 'ops/systemd';
const UNITS = readdirSync(FOLDER).filter((name) => name.endsWith('.service'));
/** Tenths of the exposure that systemd-analyze reports; 10 is best. */
const MAX_EXPOSURE = 20;

/** Values of a directive, in order. */
function valuesOf(unit: string, directive: string): string[] {
  const lines = readFileSync(`${FOLDER}/${unit}`, 'utf8').split('\n');
  return lines.filter((line) => line.startsWith(`${directive}=`)).map((line) => line.slice(directive.length + 1));
}

const environmentOf = (unit: string) =>
  Object.fromEntries(
    valuesOf(unit, 'Environment')
      .flatMap((line) => line.split(' '))
      .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  );

test('there is a unit for each role', () => {
  expect(UNITS.map((unit) => environmentOf(unit)['ROLES'])).toEqual(['receiver', 'worker']);
});

test('units and the image start with the same V8 flags as npm start', () => {
  const flagsOf = (command: string) => command.match(/--[a-z-]+(?:=\d+)?/g);
  const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { start: string } };
  const dockerfile = readFileSync('Dockerfile', 'utf8').split('\n');
  const commands = [
    ...UNITS.flatMap((unit) => valuesOf(unit, 'ExecStart')),
    // The code cache is only valid for the flags that it was made with.
    ...dockerfile.filter((line) => line.startsWith('CMD ') || line.includes('fill-code-cache')),
  ];
  const flags = flagsOf(manifest.scripts.start);
  expect(flags).toContain('--max-semi-space-size=64');
  expect(commands.map(flagsOf)).toEqual(Array.from({ length: 4 }, () => flags));
});

describe.each(UNITS)('%s', (unit) => {
  test('sets only settings that exist', () => {
    const known: readonly string[] = [...SETTING_NAMES, 'NODE_ENV'];
    const names = Object.keys(environmentOf(unit)).map((name) => name.replace(/_FILE$/, ''));
    expect(names.filter((name) => !known.includes(name))).toEqual([]);
  });

  test('lets running answers end before it is killed, and starts again after a crash', () => {
    const graceSec = Number(describeSetting('SHUTDOWN_GRACE_SEC').default);
    expect(Number(valuesOf(unit, 'TimeoutStopSec')[0])).toBeGreaterThan(graceSec);
    expect([valuesOf(unit, 'KillMode'), valuesOf(unit, 'Restart')]).toEqual([['mixed'], ['always']]);
  });

  test('has its own state directory, and the key as a credential', () => {
    const [state = ''] = valuesOf(unit, 'StateDirectory');
    expect(environmentOf(unit)['DATA_DIR']).toBe(`/var/lib/${state}`);
    const [credential = ''] = valuesOf(unit, 'LoadCredential');
    expect(environmentOf(unit)['SECRET_KEY_FILE']).toBe(`%d/${credential.split(':')[0]}`);
  });
});

const withSystemd = spawnSync('systemd-analyze', ['--version']).status === 0 ? test : test.skip;
withSystemd.each(UNITS)('%s is hardened, as systemd-analyze judges (skipped without systemd)', (unit) => {
  const args = ['security', '--offline=true', `--threshold=${MAX_EXPOSURE}`, `${FOLDER}/${unit}`];
  expect(execFileSync('systemd-analyze', args, { encoding: 'utf8' })).toMatch(/Overall exposure level .*: [01]\.\d OK/);
});

import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';

interface LockedPackage {
  version: string;
  integrity?: string;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

const readPackages = (path: string) =>
  (JSON.parse(readFileSync(path, 'utf8')) as { packages: Record<string, LockedPackage> }).packages;
const packages = readPackages('package-lock.json');

test('the lock file names every optional package of every platform', () => {
  // npm ci refuses a lock file without one of them, and npm install drops those that the current registry does not have.
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter(
      (name) => !(`${path}/node_modules/${name}` in packages) && !(`node_modules/${name}` in packages),
    ),
  );
  expect(missing).toEqual([]);
});

const FILES = ['package-lock.json', 'test/clients/package-lock.json'];

test.each(FILES)('%s pins every direct dependency to one version', (path) => {
  const { dependencies = {}, devDependencies = {} } = readPackages(path)[''] ?? {};
  const loose = Object.entries({ ...dependencies, ...devDependencies }).filter(
    ([, version]) => !/^(?:npm:[\w@/-]+@)?\d+\.\d+\.\d+$/.test(version),
  );
  expect(loose).toEqual([]);
});

test.each(FILES)('%s has the checksum of every package that npm ci verifies', (file) => {
  const unchecked = Object.entries(readPackages(file)).filter(
    ([path, { integrity }]) => path !== '' && integrity === undefined,
  );
  expect(unchecked.map(([path]) => path)).toEqual([]);
});

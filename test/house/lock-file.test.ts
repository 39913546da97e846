import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';

interface LockedPackage {
  version: string;
  integrity?: string;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
  packages: Record<string, LockedPackage>;
};

test('the lock file names every optional package of every platform', () => {
  // npm ci refuses a lock file without one of them, and npm install drops those that the current registry does not have.
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter(
      (name) => !(`${path}/node_modules/${name}` in packages) && !(`node_modules/${name}` in packages),
    ),
  );
  expect(missing).toEqual([]);
});

test('every direct dependency is pinned to one version', () => {
  const { dependencies = {}, devDependencies = {} } = packages[''] ?? {};
  const loose = Object.entries({ ...dependencies, ...devDependencies }).filter(
    ([, version]) => !/^\d+\.\d+\.\d+$/.test(version),
  );
  expect(loose).toEqual([]);
});

test('every locked package has the checksum that npm ci verifies', () => {
  const unchecked = Object.entries(packages).filter(([path, { integrity }]) => path !== '' && integrity === undefined);
  expect(unchecked.map(([path]) => path)).toEqual([]);
});

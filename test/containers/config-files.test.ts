import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { describe, expect, test } from '@jest/globals';
import { describeSetting } from '../../src/bot/config/describe-settings.ts';
import { SETTING_NAMES } from '../../src/bot/config/schema.ts';
import { declaredVolumes, environmentOf, readCompose } from './compose-file.ts';
import { foldersForVolumes, imageHolds } from './image-files.ts';

/** Each institution writes its own version; the project ships none. */
const WRITTEN_BY_NOBODY_YET = ['config/knowledge.json'];
/** Invented people and their data, only for local mode, which has no image. */
const FOR_LOCAL_MODE = ['config/groups.json', 'examples/knowledge.json', 'examples/questions.yaml'];

const defaults = SETTING_NAMES.map((name) => ({ name, written: describeSetting(name).default ?? '' }));
const files = defaults.filter(({ written }) => /^config\/\S+$/.test(written));
const folders = defaults.filter(({ written }) => /^\.\/\S+$/.test(written)).map(({ name }) => name);

/** Files that the code reads by a path relative to itself: `new URL('../../config/models.json', import.meta.url)`. */
const besideCode = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .flatMap((path) => {
    const found = readFileSync(join('src', path), 'utf8').matchAll(/new URL\('(\.\.\/[^']*)', import\.meta\.url\)/g);
    return [...found].map(([, written = '']) => join('src', dirname(path), written));
  })
  // A folder is read for what it has: `setup` copies files that are there.
  .filter((path) => /^(?:config|examples)\/./.test(path));

describe('the files in the image', () => {
  test("include every file with a default setting in this test's list", () => {
    expect(files.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'KNOWLEDGE_FILE',
        'MODELS_FILE',
        'POLICY_FILE',
        'PROMPTS_FILE',
        'SCENES_FILE',
        'TOOLS_FILE',
      ]),
    );
  });

  test.each(files)('include the default of $name: $written', ({ written }) => {
    expect(existsSync(written)).toBe(!WRITTEN_BY_NOBODY_YET.includes(written));
    expect(imageHolds(written)).toBe(existsSync(written));
  });

  test.each([...new Set(besideCode)])('include the files that the code reads relative to itself: %s', (path) => {
    expect(imageHolds(path)).toBe(!FOR_LOCAL_MODE.includes(path));
  });
});

describe('the volumes in docker-compose.yml', () => {
  const services = Object.entries(readCompose());
  const withRole = (role: string) =>
    services.filter(([, service]) => environmentOf(service)['ROLES']?.split(',').includes(role));
  const kept = services.filter(([, { build, restart }]) => build !== undefined && restart !== 'no');
  const volumeAt = (folder: string, volumes: readonly string[] = []) =>
    volumes.find((volume) => volume.split(':')[1] === folder)?.split(':')[0];

  test.each(withRole('worker'))('mount the documents read-only in %s', (_, { volumes }) => {
    expect(volumes).toContain('./documents:/app/documents:ro');
  });

  test.each(folders)('include a separate one for %s in each service that stores data there', (name) => {
    const keeping = kept.filter(([each]) =>
      ['worker', 'service'].some((role) => withRole(role).some(([of]) => of === each)),
    );
    const volumes = keeping.map(([, service]) => volumeAt(environmentOf(service)[name] ?? '', service.volumes));
    expect(keeping.length).toBeGreaterThan(2);
    expect(declaredVolumes()).toEqual(expect.arrayContaining(volumes));
    // Two services in one volume would write into the same index.
    expect(new Set(volumes).size).toBe(volumes.length);
    for (const [, service] of keeping) expect(foldersForVolumes()).toContain(environmentOf(service)[name]);
  });
});

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { describe, expect, test } from '@jest/globals';
import { describeSetting } from '../../src/bot/config/describe-settings.ts';
import { SETTING_NAMES } from '../../src/bot/config/schema.ts';
import { declaredVolumes, environmentOf, readCompose } from './compose-file.ts';
import { foldersForVolumes, imageHolds } from './image-files.ts';

/** Each institution writes its own; the project has none. */
const WRITTEN_BY_NOBODY_YET = ['config/knowledge.json'];
/** Invented people and what belongs to them: for local mode, which no image is for. */
const FOR_LOCAL_MODE = ['config/groups.json', 'examples/knowledge.json', 'examples/questions.yaml'];

const defaults = SETTING_NAMES.map((name) => ({ name, written: describeSetting(name).default ?? '' }));
const files = defaults.filter(({ written }) => /^config\/\S+$/.test(written));
const folders = defaults.filter(({ written }) => /^\.\/\S+$/.test(written)).map(({ name }) => name);

/** What the code finds beside itself: `new URL('../../config/models.json', import.meta.url)`. */
const besideCode = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .flatMap((path) => {
    const found = readFileSync(join('src', path), 'utf8').matchAll(/new URL\('(\.\.\/[^']*)', import\.meta\.url\)/g);
    return [...found].map(([, written = '']) => join('src', dirname(path), written));
  })
  .filter((path) => /^(?:config|examples)\//.test(path));

describe('the image', () => {
  test('the files that settings name by themselves are known here', () => {
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

  test.each(files)('has what $name names unless told: $written', ({ written }) => {
    expect(existsSync(written)).toBe(!WRITTEN_BY_NOBODY_YET.includes(written));
    expect(imageHolds(written)).toBe(existsSync(written));
  });

  test.each([...new Set(besideCode)])('has what the code finds beside itself: %s', (path) => {
    expect(imageHolds(path)).toBe(!FOR_LOCAL_MODE.includes(path));
  });
});

describe('compose', () => {
  const services = Object.entries(readCompose());
  const withRole = (role: string) =>
    services.filter(([, service]) => environmentOf(service)['ROLES']?.split(',').includes(role));
  const kept = services.filter(([, { build, restart }]) => build !== undefined && restart !== 'no');
  const volumeAt = (folder: string, volumes: readonly string[] = []) =>
    volumes.find((volume) => volume.split(':')[1] === folder)?.split(':')[0];

  test.each(withRole('worker'))('%s reads the documents, and cannot change them', (_, { volumes }) => {
    expect(volumes).toContain('./documents:/app/documents:ro');
  });

  test.each(folders)('%s is a volume of its own wherever something is kept there', (name) => {
    const keeping = kept.filter(([each]) =>
      ['worker', 'service'].some((role) => withRole(role).some(([of]) => of === each)),
    );
    const volumes = keeping.map(([, service]) => volumeAt(environmentOf(service)[name] ?? '', service.volumes));
    expect(keeping.length).toBeGreaterThan(2);
    expect(declaredVolumes()).toEqual(expect.arrayContaining(volumes));
    // Two would write into each other's index.
    expect(new Set(volumes).size).toBe(volumes.length);
    for (const [, service] of keeping) expect(foldersForVolumes()).toContain(environmentOf(service)[name]);
  });
});

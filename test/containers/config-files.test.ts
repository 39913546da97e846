import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { describeSetting } from '../../src/bot/config/describe-settings.ts';
import { SETTING_NAMES } from '../../src/bot/config/schema.ts';
import { declaredVolumes, environmentOf, readCompose } from './compose-file.ts';
import { foldersForVolumes, imageHolds } from './image-files.ts';

const defaults = SETTING_NAMES.map((name) => ({ name, written: describeSetting(name).default ?? '' }));
const files = defaults.filter(({ written }) => /^config\/\S+$/.test(written));
const folders = defaults.filter(({ written }) => /^\.\/\S+$/.test(written)).map(({ name }) => name);

describe('the files in the image', () => {
  test("include every file with a default setting in this test's list", () => {
    expect(files.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'CHAT_SYSTEM_PROMPT_FILE',
        'KNOWLEDGE_FILE',
        'MODELS_FILE',
        'POLICY_FILE',
        'PROMPTS_FILE',
        'SCENES_FILE',
        'TOOLS_FILE',
      ]),
    );
  });

  test.each(files)('include one for $name, which applies without $written', ({ written }) => {
    expect(readdirSync('defaults')).toContain(basename(written));
  });

  test.each(readdirSync('defaults'))('include defaults/%s', (name) => {
    expect(imageHolds(`defaults/${name}`)).toBe(true);
  });

  test.each(['config', 'examples'])("include none of %s, which are the operator's or only for local mode", (folder) => {
    for (const name of readdirSync(folder)) expect(imageHolds(`${folder}/${name}`)).toBe(false);
  });
});

describe('the volumes in docker-compose.production.yml', () => {
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

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { ConfigFileError } from '../../../src/shared/json-file.ts';
import type { Models } from '../../../src/bot/policy/policy.ts';
import { createScenes, sceneFingerprint, sceneModels, sceneSystemPrompt } from '../../../src/bot/policy/scenes.ts';
import { parseScenesFile, type Scene } from '../../../src/bot/policy/scenes-file.ts';

const KNOWN = { models: ['svc-plus', 'svc-max'], tools: ['who_am_i', 'web_search'], platforms: ['wecom', 'slack'] };
const parse = (scenes: unknown) => parseScenesFile(JSON.stringify(scenes), KNOWN);
const faultsOf = (scenes: unknown): readonly string[] => {
  try {
    parse(scenes);
    return [];
  } catch (thrown) {
    if (thrown instanceof ConfigFileError) return thrown.faults;
    throw thrown;
  }
};

const scene = fc.record(
  {
    who: fc.record(
      {
        signedIn: fc.constant(true),
        identity: fc.uniqueArray(fc.constantFrom('JG', 'XS', 'QT'), { minLength: 1 }),
        departments: fc.uniqueArray(fc.constantFrom('31*', '3100', '2203', '2*'), { minLength: 1 }),
      },
      { requiredKeys: [] },
    ),
    groups: fc.oneof(fc.constantFrom('all', 'none'), fc.uniqueArray(fc.constantFrom('g1', 'g2'), { minLength: 1 })),
    platforms: fc.uniqueArray(fc.constantFrom('wecom', 'slack'), { minLength: 1 }),
    models: fc.uniqueArray(fc.constantFrom(...KNOWN.models), { minLength: 1 }),
    tools: fc.uniqueArray(fc.constantFrom(...KNOWN.tools)),
    knowledge: fc.uniqueArray(fc.constantFrom('handbook', 'library')),
    instructions: fc.constant('Be kind.'),
  },
  { requiredKeys: [] },
);
const person = fc.option(
  fc.record({
    identityCode: fc.constantFrom('JG', 'XS', 'QT', ''),
    department: fc.constantFrom('3100', '3101', '2203', ''),
  }),
  { nil: undefined },
);
const place = fc.record({
  kind: fc.constantFrom('private' as const, 'group' as const),
  id: fc.constantFrom('g1', 'g2', 'g3'),
  platform: fc.constantFrom('wecom', 'slack'),
});
/** Independent implementation of the conditions. */
function holds(
  { who = {}, groups, platforms }: Partial<Scene>,
  asker: { identityCode: string; department: string } | undefined,
  at: { kind: string; id: string; platform: string },
): boolean {
  const conditions = [
    !platforms || platforms.some((name) => name === at.platform),
    groups === undefined ||
      (groups === 'none' ? at.kind === 'private' : at.kind === 'group' && (groups === 'all' || groups.includes(at.id))),
    who.signedIn === undefined || asker !== undefined,
    !who.identity || who.identity.some((code) => code === asker?.identityCode),
    !who.departments ||
      who.departments.some(
        (code) => asker !== undefined && new RegExp(`^${code.replace('*', '.*')}$`).test(asker.department),
      ),
  ];
  return conditions.every(Boolean);
}

test('the first scene that fits by person, place and platform decides [scenes-narrow]', () => {
  fc.assert(
    fc.property(fc.array(scene, { maxLength: 6 }), person, place, (given, asker, at) => {
      const named = given.map((one, index) => ({ name: `scene ${index}`, ...one }));
      const everywhere = named.findIndex(
        ({ who = {}, groups, platforms }) =>
          Object.keys(who).length === 0 && groups === undefined && platforms === undefined,
      );
      const kept = everywhere === -1 ? named : named.slice(0, everywhere + 1);
      const found = createScenes(parse(kept)).of(asker, at);
      expect(found?.name).toBe(kept.find((one) => holds(one as Partial<Scene>, asker, at))?.name);
    }),
  );
});

test('a scene’s models are among those allowed without it [scenes-narrow]', () => {
  const names = fc.uniqueArray(fc.constantFrom<string>('a', 'b', 'c', 'd'), { minLength: 1 });
  fc.assert(
    fc.property(names, fc.option(names, { nil: undefined }), (allowed, models) => {
      const left: readonly string[] = sceneModels({ name: 's', who: {}, models }, allowed as unknown as Models) ?? [];
      expect(left.filter((name) => !allowed.includes(name))).toEqual([]);
      expect(new Set(left)).toEqual(new Set(allowed.filter((name) => models?.includes(name) ?? true)));
      if (left.includes(allowed[0] as string)) expect(left[0]).toBe(allowed[0]);
    }),
  );
});

test('any JSON is read or rejected with non-empty faults', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (json) => {
      for (const fault of faultsOf(json)) expect(fault).not.toBe('');
    }),
  );
});

describe('the scenes file', () => {
  test('is valid as shipped and as an empty list', () => {
    expect(parseScenesFile(readFileSync('defaults/scenes.json', 'utf8'), KNOWN)).toHaveLength(1);
    expect(parse([])).toEqual([]);
  });

  test.each([
    [[{}], /name/],
    [[{ name: 'a', models: ['gpt'] }], /"gpt" is not a model of CHAT_MODELS; available are svc-plus, svc-max/],
    [[{ name: 'a', models: [] }], /name at least one/],
    [[{ name: 'a', groups: ['g'], tools: ['rm'] }], /"rm" is not a tool; available are who_am_i, web_search/],
    [[{ name: 'a', platforms: ['telegram'] }], /"telegram" is not a platform/],
    [[{ name: 'a', who: { identity: ['JS'] } }], /Must be one of JG, XS, QT/],
    [[{ name: 'a', groups: 'none' }, { name: 'a' }], /An earlier scene has the name "a"/],
    [[{ name: 'a' }, { name: 'b', groups: 'all' }], /never applies/],
    [[{ name: 'a', instruction: 'x' }], /instruction/],
    [{ about: 'x', scenes: [{ name: 'a', thinking: 'much' }] }, /Must be off, low, high or max/],
    ['text', /./],
  ])('is rejected for %j: %s', (given, complaint) => {
    expect(faultsOf(given).join('\n')).toMatch(complaint);
  });

  test('may use a list of lines, a prompt without a title, and one value for both languages', () => {
    const [read] = parse([
      {
        name: 'a',
        instructions: ['One.', 'Two.'],
        welcome: 'Hi',
        prompts: ['How?', { title: 'T', message: 'M' }],
        tools: [],
      },
    ]);
    expect(read).toMatchObject({
      ...{ instructions: 'One.\nTwo.', welcome: { zh: 'Hi', en: 'Hi' }, tools: [], who: {} },
      prompts: {
        en: [
          { title: 'How?', message: 'How?' },
          { title: 'T', message: 'M' },
        ],
      },
    });
    expect(sceneSystemPrompt(read, 'System.')).toBe('System.\n\nOne.\nTwo.');
  });
});

test('scenes that give answers access to different data have different marks [scenes-narrow]', () => {
  const base: Scene = { name: 'a', who: {} };
  const marks = [undefined, base, { ...base, tools: [] }, { ...base, knowledge: [] }, { ...base, name: 'b' }].map(
    sceneFingerprint,
  );
  expect(new Set(marks).size).toBe(5);
  expect(sceneFingerprint({ ...base, instructions: 'x' })).toBe(sceneFingerprint(base));
});

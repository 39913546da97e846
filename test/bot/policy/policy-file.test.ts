import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { createPolicy } from '../../../src/bot/policy/policy.ts';
import { parsePolicyFile } from '../../../src/bot/policy/policy-file.ts';
import { ConfigFileError } from '../../../src/shared/json-file.ts';

const MODELS = ['svc-plus', 'svc-max'];
const ALL = { use: true, models: 'all', private: true, groups: 'all' };

function faultsOf(file: unknown): readonly string[] {
  try {
    parsePolicyFile(typeof file === 'string' ? file : JSON.stringify(file), MODELS);
    return [];
  } catch (error) {
    if (error instanceof ConfigFileError) return error.faults;
    throw error;
  }
}

const rule = (who: unknown, may: unknown = ALL, name = 'a rule') => ({ rules: [{ name, who, may }], otherwise: ALL });

test('the shipped policy file allows every identity every model everywhere, signed in or not', () => {
  const file = parsePolicyFile(readFileSync('defaults/policy.json', 'utf8'), MODELS);
  const policy = createPolicy({ file, models: MODELS, defaultModel: 'svc-plus' });
  for (const identityCode of ['JG', 'XS', 'QT', ''])
    for (const kind of ['private', 'group'] as const)
      for (const person of [{ identityCode, department: '3100' }, undefined])
        expect(policy.judge(person, { kind, id: 'x' })).toMatchObject({ kind: 'allowed', models: MODELS });
});

test('the shipped policy file explains each word of a policy', () => {
  const { about } = JSON.parse(readFileSync('defaults/policy.json', 'utf8')) as { about: string[] };
  for (const word of ['who', 'identity', 'departments', 'signedIn', 'may', 'use', 'models', 'private', 'groups'])
    expect(about.join('\n')).toMatch(new RegExp(`\\b${word}\\b`));
});

describe('a faulty policy file is rejected with the place of the fault', () => {
  test.each<[what: string, file: unknown, fault: RegExp]>([
    ['no JSON', '{ "rules": [', /^Line 1, column 13: the file ends here, and \] is missing$/],
    ['nothing', null, /^the file: /],
    ['a list', [], /^the file: /],
    ['an unknown key at the top', { rules: [], otherwise: ALL, default: ALL }, /^the file: .*"default"/],
    ['no otherwise', { rules: [] }, /^otherwise: /],
    ['no rules', { otherwise: ALL }, /^rules: /],
    ['an unknown condition', rule({ dept: ['1'] }), /^rules\[0\]\.who: .*"dept"/],
    ['an unknown permission', rule({}, { ...ALL, tools: true }), /^rules\[0\]\.may: .*"tools"/],
    ['a permission beside a refusal', rule({}, { use: false, models: 'all' }), /^rules\[0\]\.may: .*"models"/],
    ['an unknown key of a rule', { rules: [{ name: 'a', who: {}, may: ALL, when: 1 }], otherwise: ALL }, /"when"/],
    ['a rule without a name', rule({}, ALL, ' '), /^rules\[0\]\.name: /],
    ['an unknown identity', rule({ identity: ['JG', 'JS'] }), /^rules\[0\]\.who\.identity\[1\]: .*JG, XS, QT/],
    ['an empty list of identities', rule({ identity: [] }), /^rules\[0\]\.who\.identity: Must not be empty/],
    ['an empty list of departments', rule({ departments: [] }), /^rules\[0\]\.who\.departments: Must not be empty/],
    ['a number as department', rule({ departments: [3100] }), /^rules\[0\]\.who\.departments\[0\]: /],
    ['a star alone', rule({ departments: ['*'] }), /^rules\[0\]\.who\.departments\[0\]: .*\*/],
    ['a star inside', rule({ departments: ['3*1'] }), /^rules\[0\]\.who\.departments\[0\]: .*\*/],
    ['department without sign-in', rule({ signedIn: false, departments: ['1'] }), /^rules\[0\]\.who: .*not signed in/],
    ['identity without sign-in', rule({ signedIn: false, identity: ['JG'] }), /^rules\[0\]\.who: .*not signed in/],
    ['use as a word', rule({}, { ...ALL, use: 'yes' }), /^rules\[0\]\.may\.use: Must be true or false/],
    ['use left out', rule({}, {}), /^rules\[0\]\.may\.use: Must be true or false/],
    [
      'a model that there is not',
      rule({}, { ...ALL, models: ['svc-plus', 'gpt'] }),
      /may\.models\[1\]: "gpt" .*CHAT_MODELS/,
    ],
    ['an empty list of models', rule({}, { ...ALL, models: [] }), /^rules\[0\]\.may\.models: Must not be empty/],
    [
      'a model as a word',
      rule({}, { ...ALL, models: 'svc-plus' }),
      /^rules\[0\]\.may\.models: Must be "all" or a list/,
    ],
    ['an empty list of groups', rule({}, { ...ALL, groups: [] }), /^rules\[0\]\.may\.groups: Must not be empty/],
    ['an empty group', rule({}, { ...ALL, groups: [''] }), /^rules\[0\]\.may\.groups\[0\]: /],
    ['groups as a word', rule({}, { ...ALL, groups: 'some' }), /^rules\[0\]\.may\.groups: Must be "all", "none"/],
    [
      'a use nowhere',
      rule({}, { ...ALL, private: false, groups: 'none' }),
      /^rules\[0\]\.may: .*does not allow the use anywhere/,
    ],
    ['an invalid otherwise', { rules: [], otherwise: { ...ALL, models: ['gpt'] } }, /^otherwise\.models\[0\]: "gpt"/],
    [
      'two rules of one name',
      { rules: ['a', 'a'].map((name) => ({ name, who: { signedIn: true }, may: ALL })), otherwise: ALL },
      /^rules\[1\]: An earlier rule has the name "a"/,
    ],
    [
      'a rule after one that fits everybody',
      { rules: ['a', 'b'].map((name) => ({ name, who: {}, may: ALL })), otherwise: ALL },
      /^rules\[1\]: It never applies, because "a"/,
    ],
  ])('%s', (_what, file, fault) => {
    const faults = faultsOf(file);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toMatch(fault);
  });

  test('all faults are reported at once', () => {
    const may = { ...ALL, models: ['gpt'], groups: [] };
    const places = faultsOf({ ...rule({ identity: ['JS'], dept: 1 }, may), otherwise: { use: 1 } }).map(
      (fault) => fault.split(':')[0],
    );
    expect(places.toSorted()).toEqual([
      'otherwise.use',
      'rules[0].may.groups',
      'rules[0].may.models[0]',
      'rules[0].who',
      'rules[0].who.identity[0]',
    ]);
  });
});

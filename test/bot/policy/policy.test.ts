import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createPolicy } from '../../../src/bot/policy/policy.ts';
import { parsePolicyFile, type Permission, type PolicyRule } from '../../../src/bot/policy/policy-file.ts';
import type { PolicyPerson, Subject } from '../../../src/bot/policy/subject.ts';
import { tries } from '../../support/tries.ts';

const MODELS = ['svc-plus', 'svc-max', 'svc-mini'];
const GROUPS = ['g1', 'g2', 'g3'];

const departments = fc.stringMatching(/^[12]{1,3}$/);
const person: fc.Arbitrary<PolicyPerson | undefined> = fc.option(
  fc.record({
    identityCode: fc.constantFrom('JG', 'XS', 'QT', ''),
    department: fc.oneof(departments, fc.constant('')),
  }),
  { nil: undefined },
);
const place = fc.record({
  kind: fc.constantFrom('private' as const, 'group' as const),
  id: fc.constantFrom(...GROUPS),
});
const some = <T>(part: fc.Arbitrary<T>) => fc.uniqueArray(part, { minLength: 1, maxLength: 3 });
const who: fc.Arbitrary<Subject> = fc.oneof(
  fc.constant({ signedIn: false }),
  fc.record(
    {
      signedIn: fc.constant(true),
      identity: some(fc.constantFrom('JG', 'XS', 'QT')),
      departments: some(
        fc.oneof(
          departments,
          departments.map((code) => `${code}*`),
        ),
      ),
    },
    { requiredKeys: [] },
  ),
);
const may: fc.Arbitrary<Permission> = fc.oneof(
  fc.constant({ use: false as const }),
  fc
    .record({
      use: fc.constant(true as const),
      models: fc.oneof(fc.constant('all' as const), some(fc.constantFrom(...MODELS))),
      private: fc.boolean(),
      groups: fc.oneof(fc.constantFrom('all' as const, 'none' as const), some(fc.constantFrom(...GROUPS))),
    })
    .filter((given) => given.private || given.groups !== 'none'),
);
/** Rules with a catch-all only at the end, as the file requires. */
const rules: fc.Arbitrary<PolicyRule[]> = fc
  .array(fc.record({ who, may }), { maxLength: 6 })
  .map((made) => made.map((rule, index) => ({ ...rule, name: `rule ${index}` })))
  .filter((made) => made.slice(0, -1).every((rule) => Object.keys(rule.who).length > 0));
const file = fc.record({ rules, otherwise: may });
const policyOf = (made: { rules: PolicyRule[]; otherwise: Permission }, defaultModel = 'svc-plus') =>
  createPolicy({ file: parsePolicyFile(JSON.stringify(made), MODELS), models: MODELS, defaultModel });

/** Independent implementation: the conditions that a person does not meet. */
function broken(rule: Subject, asker: PolicyPerson | undefined): string[] {
  const faults: string[] = [];
  if (rule.signedIn === true && !asker) faults.push('signedIn');
  if (rule.signedIn === false && asker) faults.push('signedIn');
  if (rule.identity && !new Set(rule.identity).has(asker?.identityCode ?? 'nobody')) faults.push('identity');
  const patterns = rule.departments?.map((code) => new RegExp(`^${code.replace(/\*$/, '.*')}$`));
  if (patterns && !(asker && patterns.some((pattern) => pattern.test(asker.department)))) faults.push('departments');
  return faults;
}

describe('the first matching rule', () => {
  test('decides, whatever rules follow it and whatever rules that do not match precede it', () => {
    fc.assert(
      fc.property(file, person, place, (made, asker, where) => {
        const fitting = made.rules.find((rule) => broken(rule.who, asker).length === 0);
        const alone = { rules: fitting ? [fitting] : [], otherwise: made.otherwise };
        expect(policyOf(made).judge(asker, where)).toEqual(policyOf(alone).judge(asker, where));
        const verdict = policyOf(made).judge(asker, where);
        if (verdict.kind === 'refused') expect(verdict.rule).toBe(fitting?.name ?? 'otherwise');
      }),
      { numRuns: tries(500) },
    );
  });

  test('decides if it is put before all others', () => {
    fc.assert(
      fc.property(file, person, place, may, (made, asker, where, permission) => {
        const first = { name: 'first', who: { signedIn: asker !== undefined }, may: permission };
        const alone = policyOf({ rules: [first], otherwise: made.otherwise });
        const both = policyOf({ ...made, rules: [first, ...made.rules] });
        expect(both.judge(asker, where)).toEqual(alone.judge(asker, where));
      }),
    );
  });

  test('is independent of the order of rules that exclude each other', () => {
    fc.assert(
      fc.property(fc.tuple(may, may, may), may, person, place, (permissions, otherwise, asker, where) => {
        const made = ['JG', 'XS', 'QT'].map((code, index) => ({
          name: code,
          who: { identity: [code] },
          may: permissions[index] ?? otherwise,
        }));
        const forwards = policyOf({ rules: made, otherwise }).judge(asker, where);
        expect(policyOf({ rules: made.toReversed(), otherwise }).judge(asker, where)).toEqual(forwards);
      }),
    );
  });
});

describe('the permission of the deciding rule', () => {
  test('must allow the place, and a refusal names the reason', () => {
    fc.assert(
      fc.property(may, person, place, (permission, asker, where) => {
        const verdict = policyOf({ rules: [], otherwise: permission }).judge(asker, where);
        if (!permission.use) return expect(verdict).toMatchObject({ kind: 'refused', because: 'person' });
        const groups = permission.groups === 'all' ? GROUPS : permission.groups === 'none' ? [] : permission.groups;
        const isOpen = where.kind === 'private' ? permission.private : groups.includes(where.id);
        expect(verdict).toMatchObject(isOpen ? { kind: 'allowed' } : { kind: 'refused', because: where.kind });
      }),
    );
  });

  test('puts the default model first if allowed, and contains no other than the allowed models', () => {
    fc.assert(
      fc.property(may, person, fc.constantFrom(...MODELS), (permission, asker, defaultModel) => {
        const open = permission.use ? { ...permission, private: true } : permission;
        const verdict = policyOf({ rules: [], otherwise: open }, defaultModel).judge(asker, {
          kind: 'private',
          id: 'x',
        });
        const models = verdict.kind === 'allowed' ? verdict.models : [];
        const allowed = !permission.use ? [] : permission.models === 'all' ? MODELS : permission.models;
        expect([...models].toSorted()).toEqual([...allowed].toSorted());
        expect(models[0]).toBe(allowed.includes(defaultModel) ? defaultModel : allowed[0]);
      }),
    );
  });
});

test('a department code matches exactly, and a code with * matches every code with that prefix', () => {
  const fits = (code: string, department: string) =>
    policyOf({ rules: [{ name: 'r', who: { departments: [code] }, may: { use: false } }], otherwise: ALL }).judge(
      { identityCode: 'JG', department },
      { kind: 'private', id: 'x' },
    ).kind === 'refused';
  expect(['31', '310', '3100', '31001', '13100', ''].filter((department) => fits('3100', department))).toEqual([
    '3100',
  ]);
  expect(['3', '31', '3100', '131', ''].filter((department) => fits('31*', department))).toEqual(['31', '3100']);
});

const ALL: Permission = { use: true, models: 'all', private: true, groups: 'all' };

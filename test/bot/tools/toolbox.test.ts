import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { ConfigFileError } from '../../../src/shared/json-file.ts';
import { createCurrentTime } from '../../../src/bot/tools/current-time.ts';
import { createKnowledgeSearch } from '../../../src/bot/tools/knowledge-search.ts';
import { TOOLS as REGISTERED } from '../../../src/bot/tools/registry.ts';
import { createToolbox } from '../../../src/bot/tools/toolbox.ts';
import type { Tool, ToolAsker, ToolPerson, ToolCallContext } from '../../../src/bot/tools/tool.ts';
import { parseToolsFile, type ToolRules } from '../../../src/bot/tools/tools-file.ts';
import { createWhoAmI } from '../../../src/bot/tools/who-am-i.ts';

const ZHANG: ToolPerson = {
  accountId: '10023456',
  name: '张伟',
  identityCode: 'JG',
  department: '3100',
  departmentName: '信息中心',
};
const LIN: ToolPerson = { ...ZHANG, identityCode: 'XS', department: '2203' };
const PRIVATE = { kind: 'private' as const, id: 'u' };
const GROUP = { kind: 'group' as const, id: 'g1' };
const asker = (person: ToolPerson | undefined, place: ToolAsker['place'] = PRIVATE): ToolCallContext => ({
  person,
  place,
  language: 'en',
  isNamed: () => false,
  cite: () => 1,
});

const NOW_MS = Date.UTC(2026, 10, 21, 22, 27, 20);
const TOOLS: Tool[] = [createCurrentTime(() => NOW_MS, 'Asia/Shanghai'), createWhoAmI()];
const EVERYWHERE = { on: true, who: {}, private: true, groups: 'all' as const };

async function use(name: string, args: string, context: ToolCallContext): Promise<string> {
  const rules: ToolRules = { current_time: EVERYWHERE, who_am_i: EVERYWHERE };
  const prepared = createToolbox(TOOLS, rules).prepare({ name, argumentsJson: args }, context);
  return 'fault' in prepared ? prepared.fault : prepared.run(new AbortController().signal);
}

describe('the right to use a tool depends on the facts of the turn [tool-rights]', () => {
  test.each<[what: string, rule: object, context: ToolCallContext, mayUse: boolean]>([
    ['on for everybody', { on: true }, asker(undefined), true],
    ['off', { on: false }, asker(ZHANG), false],
    ['for staff, a member of staff', { on: true, who: { identity: ['JG'] } }, asker(ZHANG), true],
    ['for staff, a student', { on: true, who: { identity: ['JG'] } }, asker(LIN), false],
    ['for staff, not signed in', { on: true, who: { identity: ['JG'] } }, asker(undefined), false],
    ['for departments, within', { on: true, who: { departments: ['31*'] } }, asker(ZHANG), true],
    ['for departments, outside', { on: true, who: { departments: ['31*'] } }, asker(LIN), false],
    ['for a group, there', { on: true, private: false, groups: ['g1'] }, asker(ZHANG, GROUP), true],
    ['for a group, elsewhere', { on: true, groups: ['g2'] }, asker(ZHANG, GROUP), false],
    ['for groups, privately', { on: true, private: false }, asker(ZHANG), false],
  ])('%s', (_, rule, context, mayUse) => {
    const rules = parseToolsFile(JSON.stringify({ tools: { current_time: rule } }), REGISTERED);
    const toolbox = createToolbox(TOOLS, rules);
    expect(toolbox.offer(context).map(({ name }) => name)).toEqual(mayUse ? ['current_time'] : []);
    const prepared = toolbox.prepare({ name: 'current_time', argumentsJson: '{}' }, context);
    expect('run' in prepared).toBe(mayUse);
  });

  test('a scene that names sources offers knowledge_search in addition to its tools, if the rules allow it', () => {
    const search = createKnowledgeSearch({ hasSources: true, search: () => Promise.resolve([]) });
    const offered = (rule: typeof EVERYWHERE, inScene: Pick<ToolAsker, 'tools' | 'knowledge'>) =>
      createToolbox([...TOOLS, search], { current_time: EVERYWHERE, knowledge_search: rule })
        .offer({ ...asker(ZHANG), ...inScene })
        .map(({ name }) => name);
    const both = ['current_time', 'knowledge_search'];
    expect(offered(EVERYWHERE, { tools: ['current_time'], knowledge: ['Library'] })).toEqual(both);
    expect(offered(EVERYWHERE, { tools: ['current_time'] })).toEqual(['current_time']);
    expect(offered(EVERYWHERE, { tools: ['current_time'], knowledge: [] })).toEqual(['current_time']);
    expect(offered(EVERYWHERE, { knowledge: ['Library'] })).toEqual(both);
    expect(offered({ ...EVERYWHERE, on: false }, { tools: [], knowledge: ['Library'] })).toEqual([]);
  });

  test('a tool without an entry in the file is off, also under inherited property names', () => {
    const toolbox = createToolbox(TOOLS, {});
    for (const name of [...REGISTERED.map((tool) => tool.name), 'constructor', '__proto__', 'toString', ''])
      expect(toolbox.prepare({ name, argumentsJson: '{}' }, asker(ZHANG))).toHaveProperty('fault');
  });

  test('who_am_i is never available in groups [group-is-not-private]', async () => {
    expect(await use('who_am_i', '{}', asker(ZHANG, GROUP))).toBe('There is no such tool here.');
    const toolbox = createToolbox(TOOLS, { who_am_i: EVERYWHERE });
    expect(toolbox.offer(asker(ZHANG, GROUP))).toEqual([]);
  });
});

describe('TOOLS_FILE', () => {
  test('enables only harmless tools as shipped', () => {
    const rules = parseToolsFile(readFileSync('defaults/tools.json', 'utf8'), REGISTERED);
    const toolbox = createToolbox(TOOLS, rules);
    expect(toolbox.offer(asker(undefined)).map(({ name }) => name)).toEqual(['current_time']);
    expect(toolbox.offer(asker(ZHANG)).map(({ name }) => name)).toEqual(['current_time', 'who_am_i']);
    expect(toolbox.offer(asker(ZHANG, GROUP)).map(({ name }) => name)).toEqual(['current_time']);
  });

  test.each<[what: string, file: unknown, fault: string | RegExp]>([
    ['no JSON', '{', 'Line 1, column 2: the file ends here, and } is missing'],
    ['an unknown tool', { tools: { clock: { on: true } } }, /^tools\.clock: .*available are current_time, who_am_i/],
    ['an unknown field', { tools: { current_time: { on: true, whom: {} } } }, /^tools\.current_time: .*whom/],
    ['a field beside the tools', { tools: {}, rules: [] }, /rules/],
    ['no tools', {}, /^tools: /],
    ['no on', { tools: { current_time: {} } }, /^tools\.current_time\.on: /],
    [
      'an unknown identity',
      { tools: { current_time: { on: true, who: { identity: ['JS'] } } } },
      'tools.current_time.who.identity[0]: Must be one of JG, XS, QT',
    ],
    [
      'an empty list',
      { tools: { current_time: { on: true, groups: [] } } },
      'tools.current_time.groups: Must not be empty: name at least one',
    ],
    [
      'on nowhere',
      { tools: { current_time: { on: true, private: false, groups: 'none' } } },
      /does not enable the tool anywhere/,
    ],
  ])('refuses %s with a sentence', (_, file, fault) => {
    let faults: readonly string[] = [];
    try {
      parseToolsFile(typeof file === 'string' ? file : JSON.stringify(file), REGISTERED);
    } catch (error) {
      if (error instanceof ConfigFileError) faults = error.faults;
    }
    expect(faults).toEqual([typeof fault === 'string' ? fault : expect.stringMatching(fault)]);
  });
});

describe('declarations [tools]', () => {
  test.each(TOOLS)('$name has a schema of type object that includes required', ({ parameters, description }) => {
    expect(parameters).toMatchObject({ type: 'object', properties: {}, additionalProperties: false });
    expect(parameters).not.toHaveProperty('$schema');
    expect(description).not.toBe('');
    expect(() => z.fromJSONSchema(parameters)).not.toThrow();
  });
});

describe('tool results', () => {
  test('contain the time, in a time zone if given', async () => {
    expect(await use('current_time', '{"timeZone":"Asia/Shanghai"}', asker(undefined))).toBe(
      '2026-11-22 06:27:20 (Sunday), time zone Asia/Shanghai',
    );
    expect(await use('current_time', '{"timeZone":"Asia/Shanghai"}', { ...asker(undefined), language: 'zh' })).toBe(
      '2026年11月22日星期日 06:27:20（时区 Asia/Shanghai）',
    );
    expect(await use('current_time', '', asker(undefined))).toMatch(
      /^2026-11-2\d \d\d:\d\d:20 \(\w+\), time zone \S+$/,
    );
    expect(await use('current_time', '{"timeZone":"Mars/Base"}', asker(undefined))).toContain('Asia/Shanghai');
  });

  test('contain the profile of the asker', async () => {
    expect(await use('who_am_i', 'null', asker(ZHANG))).toBe(
      'Name: 张伟\nStaff or student number: 10023456\nIdentity: staff\nDepartment: 信息中心 (3100)',
    );
    const bare = { ...ZHANG, identityCode: '', department: '', departmentName: '' };
    expect(await use('who_am_i', '{}', asker(bare))).toBe('Name: 张伟\nStaff or student number: 10023456');
    expect(await use('who_am_i', '{}', asker(undefined))).toContain('Nobody is signed in');
    const chinese = { ...asker(ZHANG), language: 'zh' as const };
    expect(await use('who_am_i', '{}', chinese)).toMatch(/^姓名: 张伟\n学工号: 10023456\n身份: 教职工\n部门: /);
  });
});

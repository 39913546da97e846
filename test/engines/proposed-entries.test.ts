import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { runCheckCommand } from '../../src/cli/check/check-command.ts';
import { startEmbeddedRedis, type EmbeddedRedis } from '../../src/bot/app/local/embedded-redis.ts';
import { filledIn, readModelsFile, type WrittenEntry } from '../../src/shared/models/models-file.ts';
import { thinkingFields, type Thinking } from '../../src/shared/models/thinking-fields.ts';
import { folderWith, loadSound, SERVING } from '../bot/config/environments.ts';
import type { EngineRequest, EngineShape } from './engine-shape.ts';
import { ENGINES } from './engine-shapes.ts';
import { startEngineStandIn, type EngineStandIn } from './engine-stand-in.ts';

const EXAMPLES = readModelsFile(readFileSync('config/models.examples.json', 'utf8'));

let engine: EngineStandIn;
let redis: EmbeddedRedis;
beforeAll(async () => {
  engine = await startEngineStandIn(ENGINES);
  redis = await startEmbeddedRedis();
});
afterAll(async () => {
  await engine.close();
  await redis.stop();
});

describe('the entries of well-known models [models]', () => {
  test.each(EXAMPLES.map((entry) => [entry.name, entry] as const))('%s is asked as its engine is', (name, entry) => {
    const row = ENGINES.find(({ model }) => model === name);
    expect({ ...entry, name: undefined }).toEqual({ ...row?.entry, name: undefined });
  });

  test.each(['docs/MODELS.md', 'docs/zh-CN/MODELS.md'])('%s shows them as they are', (page) => {
    const shown = [...readFileSync(page, 'utf8').matchAll(/`(\{"name".*?\})`/g)].map(
      ([, json]) => JSON.parse(json ?? '') as WrittenEntry,
    );
    const byName = (entries: readonly WrittenEntry[]) => new Map(entries.map((entry) => [entry.name, entry]));
    expect(byName(shown)).toEqual(byName(EXAMPLES));
  });

  test('there is one for each family that people ask for', () => {
    const names = EXAMPLES.map(({ name }) => name.toLowerCase()).join(' ');
    for (const family of ['gpt', 'deepseek', 'qwen-', 'qwen3', 'glm', 'llama', 'kimi', 'mistral', ':20b'])
      expect(names).toContain(family);
  });
});

/** What `npm run check` says of models that no file lists, by their names. */
async function proposalsFor(models: readonly string[]): Promise<Map<string, WrittenEntry>> {
  const path = `${folderWith({ 'models.json': '[]' })}/models.json`;
  const env = { CHAT_BASE_URL: engine.url, CHAT_MODELS: models.join(','), MODELS_FILE: path, REDIS_URL: redis.url };
  const { config, secrets } = loadSound({ ...SERVING, ...env, SIGN_IN: 'off' });
  let text = '';
  await runCheckCommand(config, secrets, { write: (more: string) => (text += more) });
  const found = [...text.matchAll(/add it to \S+: (\{.*\})/g)].map(
    ([, json]) => JSON.parse(json ?? '') as WrittenEntry,
  );
  return new Map(found.map((entry) => [entry.name, entry]));
}

/** Whether the engine thinks when it is asked so by this entry; true and false of what is told apart by its answer. */
function thinks({ thinksAbout, model }: EngineShape, entry: WrittenEntry, thinking: Thinking): boolean | undefined {
  const request: EngineRequest = {
    ...{ model, messages: [], stream: true },
    ...thinkingFields(filledIn(entry), thinking),
  };
  return thinksAbout?.(request);
}

test('npm run check prints, for each model that is not listed, an entry that fits its engine [models]', async () => {
  const proposals = await proposalsFor(ENGINES.map(({ model }) => model));
  for (const row of ENGINES) {
    const entry = proposals.get(row.model);
    if (!entry) throw new Error(`nothing was proposed for ${row.model}`);
    const known = EXAMPLES.find(({ name }) => name === row.model);
    // What no trial can show, such as levels or a thought that is never told, is known of those that have an entry.
    if (known) expect([row.engine, entry.thinking, entry.levels]).toEqual([row.engine, known.thinking, known.levels]);
    const isAsked = row.entry['thinking'] !== undefined;
    expect([row.engine, entry.thinking !== undefined]).toEqual([row.engine, isAsked]);
    if (isAsked && row.thinksAbout)
      expect([row.engine, thinks(row, entry, 'high'), thinks(row, entry, 'off')]).toEqual([row.engine, true, false]);
    // The stand-in takes pictures and tools of whoever does not refuse them.
    expect([row.engine, entry.images, entry.tools]).toEqual([row.engine, true, undefined]);
  }
}, 30_000);

test('a model of a known family is tried by what is known of it first', async () => {
  const rows = ['qwen-max', 'deepseek-v9', 'gpt-5.1-mini'].map((name) => {
    const family = ENGINES.find(({ model }) => model.slice(0, 4) === name.slice(0, 4) && model !== 'gpt-4o');
    const row = name.startsWith('gpt') ? ENGINES.find(({ model }) => model === 'gpt-5.1') : family;
    if (!row) throw new Error(name);
    return { ...row, model: name };
  });
  const other = await startEngineStandIn(rows);
  const before = engine;
  engine = other;
  try {
    const proposals = await proposalsFor(rows.map(({ model }) => model));
    expect([...proposals.values()].map(({ name, thinking, levels }) => [name, thinking, levels])).toEqual([
      ['qwen-max', 'enable_thinking', undefined],
      ['deepseek-v9', 'thinking', ['low', 'high', 'max']],
      ['gpt-5.1-mini', 'reasoning_effort', ['none', 'low', 'medium', 'high']],
    ]);
  } finally {
    engine = before;
    await other.close();
  }
}, 30_000);

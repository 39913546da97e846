import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { runCheckCommand } from '../../src/cli/check/check-command.ts';
import { startEmbeddedRedis, type EmbeddedRedis } from '../../src/bot/app/local/embedded-redis.ts';
import { applyDefaults, readModelsFile, type ModelFileEntry } from '../../src/shared/models/models-file.ts';
import { thinkingFields, type Thinking } from '../../src/shared/models/thinking-fields.ts';
import { folderWith, loadSound, SERVING } from '../bot/config/environments.ts';
import type { EngineRequest, EngineShape } from './engine-shape.ts';
import { ENGINES } from './engine-shapes.ts';
import { startEngineStandIn, type EngineStandIn } from './engine-stand-in.ts';

const EXAMPLES = readModelsFile(readFileSync('defaults/models.examples.json', 'utf8'));

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
  test.each(EXAMPLES.map((entry) => [entry.name, entry] as const))('match the engine of %s', (name, entry) => {
    const row = ENGINES.find(({ model }) => model === name);
    expect({ ...entry, name: undefined }).toEqual({ ...row?.entry, name: undefined });
  });

  test.each(['docs/guide/MODELS.md', 'docs/zh-CN/MODELS.md'])('are shown unchanged in %s', (page) => {
    const shown = [...readFileSync(page, 'utf8').matchAll(/`(\{"name".*?\})`/g)].map(
      ([, json]) => JSON.parse(json ?? '') as ModelFileEntry,
    );
    const byName = (entries: readonly ModelFileEntry[]) => new Map(entries.map((entry) => [entry.name, entry]));
    expect(byName(shown)).toEqual(byName(EXAMPLES));
  });

  test('include one for each popular model family', () => {
    const names = EXAMPLES.map(({ name }) => name.toLowerCase()).join(' ');
    for (const family of ['gpt', 'deepseek', 'qwen-', 'qwen3', 'glm', 'llama', 'kimi', 'mistral', ':20b'])
      expect(names).toContain(family);
  });
});

/** The output of `npm run check` for models that no file lists, by their names. */
async function proposalsFor(models: readonly string[]): Promise<Map<string, ModelFileEntry>> {
  const path = `${folderWith({ 'models.json': '[]' })}/models.json`;
  const env = { CHAT_BASE_URL: engine.url, CHAT_MODELS: models.join(','), MODELS_FILE: path, REDIS_URL: redis.url };
  const { config, secrets } = loadSound({ ...SERVING, ...env, SIGN_IN: 'off' });
  let text = '';
  await runCheckCommand(config, secrets, { write: (more: string) => (text += more) });
  const found = [...text.matchAll(/add it to the list \[ \] in \S+: (\{.*\})/g)].map(
    ([, json]) => JSON.parse(json ?? '') as ModelFileEntry,
  );
  return new Map(found.map((entry) => [entry.name, entry]));
}

/** Whether the engine thinks when it is asked so by this entry, as far as its answers show it. */
function thinks({ thinksAbout, model }: EngineShape, entry: ModelFileEntry, thinking: Thinking): boolean | undefined {
  const request: EngineRequest = {
    ...{ model, messages: [], stream: true },
    ...thinkingFields(applyDefaults(entry), thinking),
  };
  return thinksAbout?.(request);
}

test('npm run check prints a fitting entry for each model that is not listed [models]', async () => {
  const proposals = await proposalsFor(ENGINES.map(({ model }) => model));
  for (const row of ENGINES) {
    const entry = proposals.get(row.model);
    if (!entry) throw new Error(`nothing was proposed for ${row.model}`);
    const known = EXAMPLES.find(({ name }) => name === row.model);
    // Facts that no test request shows, such as levels or a thought that is never shown, are known for models with an entry.
    if (known) expect([row.engine, entry.thinking, entry.levels]).toEqual([row.engine, known.thinking, known.levels]);
    const isAsked = row.entry['thinking'] !== undefined;
    expect([row.engine, entry.thinking !== undefined]).toEqual([row.engine, isAsked]);
    if (isAsked && row.thinksAbout)
      expect([row.engine, thinks(row, entry, 'high'), thinks(row, entry, 'off')]).toEqual([row.engine, true, false]);
    // The test engine accepts pictures and tools unless a row refuses them.
    expect([row.engine, entry.images, entry.tools]).toEqual([row.engine, true, undefined]);
  }
}, 60_000);

test('a model of a known family is first tested with the known settings', async () => {
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
}, 60_000);

import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { bothPlatforms, type Seen } from '../support/both-platforms.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import type { EngineShape } from './engine-shape.ts';
import { ENGINES, guessedName, modelsFileOf } from './engine-shapes.ts';
import { startEngineStandIn, THOUGHT, USAGE, type EngineStandIn } from './engine-stand-in.ts';

const deployment = useSlackDeployment();
const folder = mkdtempSync(join(tmpdir(), 'parley-engines-'));
let engine: EngineStandIn;
let picture: Buffer;

beforeAll(async () => {
  engine = await startEngineStandIn(ENGINES);
  picture = await sharp({ create: { width: 32, height: 32, channels: 3, background: '#c04030' } })
    .png()
    .toBuffer();
});
afterAll(async () => {
  await engine.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => void engine.requests.splice(0));

/** Starts a bot with these models. Returns a function that lets each row's person send a message, all concurrently. */
async function startBot(file: object[], more: Record<string, string> = {}) {
  const path = join(folder, 'models.json');
  writeFileSync(path, JSON.stringify(file));
  const { env, sayAll } = bothPlatforms(deployment);
  await deployment.startBot({
    ...env,
    CHAT_BASE_URL: engine.url,
    CHAT_MODELS: file.map((entry) => (entry as { name: string }).name).join(','),
    MODELS_FILE: path,
    ...more,
  });
  return (rows: readonly EngineShape[], text: string, image?: Buffer): Promise<Seen[]> =>
    sayAll(
      'wecom',
      rows.map((row) => ({ person: personOf(row), text, ...(image ? { picture: image } : {}) })),
    );
}

const personOf = ({ model }: EngineShape) => `asks-${model.replaceAll(/[^\w]/g, '-')}`;
const named = <T>(rows: readonly EngineShape[], value: (row: EngineShape, index: number) => T) =>
  Object.fromEntries(rows.map((row, index) => [row.engine, value(row, index)]));
const answersOf = (rows: readonly EngineShape[], seen: readonly Seen[]) =>
  named(rows, (_row, index) => seen[index]?.snapshots.at(-1));
const requestsOf = (name: string) => engine.requests.filter(({ model }) => model === name);

/** Each person chooses the model of their row. */
async function chooseModels(say: Awaited<ReturnType<typeof startBot>>, rows: readonly EngineShape[], name = modelOf) {
  const { sayAll } = bothPlatforms(deployment);
  await sayAll(
    'wecom',
    rows.map((row) => ({ person: personOf(row), text: `/model ${name(row)}` })),
  );
  return say;
}
const modelOf = ({ model }: EngineShape) => model;

describe(`a WeCom message and its answer with each of ${ENGINES.length} engines [overview]`, () => {
  test('support text, usage, thinking on and off, a picture, a tool, and an error', async () => {
    const say = await chooseModels(await startBot(modelsFileOf(ENGINES)), ENGINES);
    const ANSWER = 'A whole answer, 完整的回答.';

    // No answer contains a thought, in any format of the engine.
    expect(answersOf(ENGINES, await say(ENGINES, 'hello'))).toEqual(named(ENGINES, () => ANSWER));
    const usage = answersOf(ENGINES, await say(ENGINES, '/usage'));
    expect(usage).toEqual(
      named(ENGINES, () => expect.stringContaining(`Today: 1 question, about ${USAGE.total_tokens} tokens`)),
    );

    const thinkers = ENGINES.filter(({ entry }) => entry['thinking'] !== undefined);
    for (const [word, isOn] of [
      ['/think high', true],
      ['/think off', false],
    ] as const) {
      await say(thinkers, word);
      const seen = await say(thinkers, 'hello');
      expect(answersOf(thinkers, seen)).toEqual(named(thinkers, () => ANSWER));
      expect(named(thinkers, ({ model, thinksAbout }) => thinksAbout?.(last(model)))).toEqual(
        named(thinkers, ({ thinksAbout }) => (thinksAbout ? isOn : undefined)),
      );
      expect(named(thinkers, (_row, index) => seen[index]?.apart.join(' ').includes(THOUGHT))).toEqual(
        named(thinkers, ({ thoughtIn }) => isOn && thoughtIn !== undefined),
      );
    }
    await say(thinkers, '/think auto');

    const seeing = ENGINES.filter(({ entry }) => entry['images'] === true);
    expect(answersOf(seeing, await say(seeing, 'What is this?', picture))).toEqual(
      named(seeing, () => 'I see a picture.'),
    );
    expect(named(seeing, ({ model }) => last(model).model)).toEqual(named(seeing, ({ model }) => model));

    const callers = ENGINES.filter(({ entry }) => entry['tools'] !== false);
    expect(answersOf(callers, await say(callers, 'What time is it?'))).toEqual(
      named(callers, () => 'The clock says UTC.'),
    );

    // A thought is returned only to an engine that requires it.
    const thoughtsSent = named(callers, ({ model }) =>
      JSON.stringify(requestsOf(model)).includes('"reasoning_content"'),
    );
    expect(thoughtsSent).toEqual(named(callers, ({ wantsThought }) => wantsThought === true));

    const errors = answersOf(ENGINES, await say(ENGINES, 'provoke'));
    expect(errors).toEqual(named(ENGINES, () => expect.stringMatching(/chat service|too long for the model|\/retry/)));
    expect(JSON.stringify(errors)).not.toMatch(/litellm|mmproj|registry|\/models\/m|Request id|系统检测/);
  }, 60_000);

  test('keep the text of an engine that stops in the middle, and mark it as partial', async () => {
    const rows = ENGINES.filter(({ givesUp }) => givesUp);
    const say = await chooseModels(await startBot(modelsFileOf(ENGINES)), rows);
    expect(answersOf(rows, await say(rows, 'give up'))).toEqual(
      named(rows, () => expect.stringMatching(/^A whole an\n\n\(.*/)),
    );
  }, 60_000);

  test('leave out immediately, and from then on, what an engine refuses', async () => {
    const rows = ENGINES.filter(({ refusal }) => refusal && !refusal.onlyWhole);
    const nameOf = (row: EngineShape) => (row.refusal?.guessed ? guessedName(row) : row.model);
    const say = await chooseModels(await startBot(modelsFileOf(ENGINES)), rows, nameOf);
    const thinkers = rows.filter(({ refusal }) => refusal?.guessed?.['thinking'] !== undefined || !refusal?.guessed);
    await say(thinkers, '/think high');
    const questions = named(rows, () => 0);
    for (const _time of [1, 2]) {
      const byWord = rows.filter(({ refusal }) => refusal?.by !== 'tool');
      expect(answersOf(byWord, await say(byWord, 'hello'))).toEqual(named(byWord, () => 'A whole answer, 完整的回答.'));
      const byTool = rows.filter(({ refusal }) => refusal?.by === 'tool');
      expect(answersOf(byTool, await say(byTool, 'What time is it?'))).toEqual(
        named(byTool, ({ wantsThought }) => (wantsThought ? 'The clock says UTC.' : 'I have no clock.')),
      );
      for (const row of rows) questions[row.engine] = (questions[row.engine] ?? 0) + (row.wantsThought ? 2 : 1);
    }
    // One request more in total: at the first question.
    expect(named(rows, (row) => requestsOf(upstreamOf(row)).length)).toEqual(
      named(rows, (row) => (questions[row.engine] ?? 0) + 1),
    );
    expect(named(rows, (row) => row.refusal?.refuses(last(upstreamOf(row))))).toEqual(named(rows, () => false));
  }, 60_000);

  test('with CHAT_MODELS=qwen-vl,gpt-x an image is read and /think high reaches the engine in its dialect', async () => {
    const [seer, thinker] = [ENGINES[0], ENGINES.find(({ engine: name }) => name === 'OpenAI, models that reason')];
    const say = await startBot([
      { name: 'qwen-vl', upstream: seer?.model, images: true },
      { name: 'gpt-x', upstream: thinker?.model, thinking: 'reasoning_effort' },
    ]);
    const rows = [ENGINES[0]].filter((row) => row !== undefined);
    await say(rows, '/model gpt-x');
    await say(rows, '/think high');
    await say(rows, 'hello');
    expect(engine.requests.at(-1)).toMatchObject({ model: 'gpt-5.1', reasoning_effort: 'high' });
    const [seen] = await say(rows, 'What is this?', picture);
    expect([seen?.snapshots.at(-1), engine.requests.at(-1)?.model]).toEqual(['I see a picture.', 'gpt-4o']);
  }, 60_000);
});

function last(name: string) {
  const request = requestsOf(name).at(-1);
  if (!request) throw new Error(`${name} was not asked`);
  return request;
}

function upstreamOf({ model, refusal }: EngineShape): string {
  const upstream = refusal?.guessed?.['upstream'];
  return typeof upstream === 'string' ? upstream : model;
}

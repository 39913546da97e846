import { describe, expect, test } from '@jest/globals';
import { streamOf } from '../bot/model/scripted-chat-server.ts';
import { bothPlatforms, PLATFORMS } from '../support/both-platforms.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { everyNth } from '../support/tries.ts';
import { AWKWARD_ENGINES } from './awkward-engine-table.ts';

const deployment = useSlackDeployment();
const QUESTIONS = { en: 'What time is it?', zh: '现在几点？' };
const LANGUAGES = ['en', 'zh'] as const;

const callsOf = (body: unknown) =>
  (body as { messages: { role: string; tool_call_id?: string; tool_calls?: { id: string }[] }[] }).messages;

describe.each(PLATFORMS)(
  'tool calls of non-standard engines, from a message on %s to its answer [overview]',
  (platform) => {
    // One language for each platform, and both in the long tier.
    test.each(everyNth(LANGUAGES, 2, PLATFORMS.indexOf(platform)))(
      "runs each tool once per call and shows the model's text as the answer (%s)",
      async (language) => {
        const { env, sayAll } = bothPlatforms(deployment);
        await deployment.startBot(env);
        for (const [index, engine] of AWKWARD_ENGINES.entries()) {
          const { name, rounds, runs } = engine;
          deployment.chat.script(...rounds.map((pieces) => streamOf(...pieces)));
          const before = { calls: deployment.chat.calls.length, lines: deployment.lines.length };
          const person = platform === 'slack' ? `UA${index}` : `asker${index}`;
          const [seen] = await sayAll(platform, [{ person, text: QUESTIONS[language] }]);
          const ran = deployment.lines
            .slice(before.lines)
            .filter((line) => line.includes('"tool ended"') && line.includes('"outcome":"done"'));
          expect([name, seen?.snapshots.at(-1), ran.length, deployment.chat.calls.length - before.calls]).toEqual([
            name,
            engine[language],
            runs,
            rounds.length,
          ]);
          // Each result refers to its call, whatever ids the engine used.
          const last = callsOf(deployment.chat.calls.at(-1)?.body);
          const asked = last.flatMap(({ tool_calls: calls = [] }) => calls.map(({ id }) => id));
          expect([name, last.flatMap(({ tool_call_id: id }) => id ?? [])]).toEqual([name, asked]);
          expect([name, new Set(asked).size]).toEqual([name, asked.length]);
        }
      },
      60_000,
    );
  },
);

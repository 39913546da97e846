import { html, plainName } from '../../src/shared/text/html.ts';
import { scrub } from '../../src/shared/log.ts';
import { stripInvisible } from '../../src/shared/text/sanitize-text.ts';
import { languageOfText } from '../../src/shared/text/texts.ts';
import { StreamDecoder } from '../../src/bot/model/stream/stream-decoder.ts';
import { estimateTokens } from '../../src/bot/turn/conversation/estimate-tokens.ts';
import { labelQuote, labelSpeaker } from '../../src/bot/turn/conversation/label-text.ts';
import { contentOf, saidParts, textPart } from '../../src/bot/turn/conversation/prompt-parts.ts';
import { summaryPrompt } from '../../src/bot/turn/conversation/summary-prompt.ts';
import { readCodes } from '../../src/bot/identity/typed-code/read-codes.ts';
import { createMarkdownWriter } from '../../src/bot/platforms/markdown/markdown-writer.ts';
import { SLACK_DIALECT } from '../../src/bot/platforms/slack/dialect.ts';
import { mentionOf, plainText } from '../../src/bot/platforms/slack/plain-text.ts';
import { readDelivery as readSlackDelivery } from '../../src/bot/platforms/slack/read-delivery.ts';
import { renderStatus } from '../../src/bot/platforms/slack/render-reply.ts';
import { wholeSnapshot } from '../../src/bot/platforms/slack/write-snapshot.ts';
import { readSlashCommand } from '../../src/bot/domain/slash-words.ts';
import { asDeliveryId } from '../../src/bot/domain/ids.ts';
import { createCallbackAnswers } from '../../src/bot/platforms/wecom/callback-answers.ts';
import { WECOM_DIALECT } from '../../src/bot/platforms/wecom/dialect.ts';
import { readDelivery as readWecomDelivery } from '../../src/bot/platforms/wecom/read-delivery.ts';
import { renderPlain, renderReply as renderWecomReply } from '../../src/bot/platforms/wecom/render-reply.ts';
import { createMentionStripper } from '../../src/bot/platforms/wecom/strip-mention.ts';
import { composeAnswer } from '../../src/service/demo-model/compose-answer.ts';
import { DocSearch } from '../../src/service/demo-model/doc-search.ts';
import { readChatRequest } from '../../src/service/chat/chat-request.ts';
import { splitTokens } from '../../src/service/chat/estimate-tokens.ts';
import { shippedModelsByName } from '../support/shipped-models.ts';
import { readCalls } from '../../src/shared/models/read-calls.ts';
import { ReplyText } from '../../src/shared/models/reply-text.ts';
import { formatStoredAnswer, readStoredAnswer } from '../../src/bot/turn/stored-answer.ts';
import { directMessage } from '../bot/platforms/slack/support.ts';
import { AES_KEY, groupCallback, TOKEN } from '../bot/platforms/wecom/support.ts';
import type { TextStep } from './measure-cost.ts';

/** Less than platforms allow, so that texts of this test's sizes are cut. */
const ROOM_BYTES = 4_096;
const LOOK_BYTES = 20_480;
const mention = createMentionStripper('Parley Bot');
const answers = createCallbackAnswers({ token: TOKEN, aesKey: AES_KEY, nonce: '1', nowMs: () => 0 });
const models = shippedModelsByName();
const docs = new DocSearch('/nowhere');
const declared = {
  type: 'function',
  function: {
    name: 'look_up',
    description: 'Looks something up.',
    parameters: {
      type: 'object',
      properties: Object.fromEntries(
        ['count', 'email', 'link', 'city', 'expression', 'path', 'name', 'query', 'order_id', 'time_zone'].map(
          (name) => [name, { type: name === 'count' ? 'number' : 'string' }],
        ),
      ),
      required: ['count', 'email', 'link', 'city', 'expression', 'path', 'name', 'query', 'order_id', 'time_zone'],
    },
  },
};

/** Approximate length of the deltas that engines send. */
const DELTA_CHARS = 6;
const READS = { offered: new Set(['clock']), thoughtFirst: true };

/** A stream that delivers a text in small deltas. */
function streamed(text: string): void {
  const decoder = new StreamDecoder({ ...READS, maxLineChars: 1_000_000, maxAnswerChars: 200_000 });
  for (const content of text.match(/[^]{1,64}/g) ?? [])
    decoder.push(Buffer.from(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`));
  decoder.end();
}

function parted(text: string): void {
  const reading = new ReplyText(READS);
  for (let start = 0; start < text.length; start += DELTA_CHARS) {
    const delta = text.slice(start, start + DELTA_CHARS);
    if (!reading.passes(delta)) reading.part(delta);
  }
  reading.part('', 'whole');
}

/** Every step that processes text of a model or a person and can be called alone. */
export const TEXT_STEPS: Readonly<Record<string, TextStep>> = {
  'an answer on WeCom': (text) => createMarkdownWriter(WECOM_DIALECT).split(text, ROOM_BYTES),
  'an answer on Slack': (text) => createMarkdownWriter(SLACK_DIALECT).split(text, ROOM_BYTES),
  'a growing answer on WeCom': (text) => createMarkdownWriter(WECOM_DIALECT).renderGrowing(text, LOOK_BYTES),
  'a growing answer on Slack': (text) => createMarkdownWriter(SLACK_DIALECT).renderGrowing(text, LOOK_BYTES),
  'a finished snapshot': (text) => createMarkdownWriter(WECOM_DIALECT).renderFinished(text, ROOM_BYTES),
  'a thought on WeCom': (text) => renderWecomReply({ text: '', thinking: text, finished: false }),
  'a status on Slack': renderStatus,
  'a note on Slack': (text) => wholeSnapshot({ content: 'x', note: text }),
  'what Slack notifies of': (text) => wholeSnapshot({ content: text, note: 'x' }),
  'a plain text on WeCom': (text) => renderPlain(text, ROOM_BYTES),
  'a message on Slack': plainText,
  'a mention on Slack': (text) => mentionOf(text, ['UBOT']),
  'a delivery of Slack': (text) =>
    readSlackDelivery(Buffer.from(JSON.stringify(directMessage(text))), false, () => ({
      tenant: 't',
      app: 'a',
      answersInThreads: true,
      followsThreads: false,
      bare: { models: [] },
      isFileAddress: () => true,
      isOwnAddress: () => false,
      isForeignOrigin: () => false,
    })),
  'a delivery of WeCom': (text) =>
    readWecomDelivery(
      JSON.parse(JSON.stringify(groupCallback(text, { quote: { msgtype: 'text', text: { content: text } } }))),
      answers,
      { tenant: 't', app: 'a', botName: 'Parley', mention, sentAtMs: 0, laterReplyHandle: () => undefined },
    ),
  'a mention on WeCom': (text) => mention.fromBothEnds(text),
  'a slash word': readSlashCommand,
  'typed codes': readCodes,
  'a language': languageOfText,
  'unseen characters': stripInvisible,
  'a quote for the prompt': (text) => contentOf([...labelQuote([textPart(text)]), textPart(text)]),
  'a question for the prompt': (text) => contentOf(labelSpeaker('member-1', saidParts(text, []))),
  'a question with an image': (text) => contentOf(saidParts(text, [{ dataUrl: 'data:', place: 9 }])),
  'a prompt for a summary': (text) =>
    summaryPrompt(text, [
      { version: 1, turnId: asDeliveryId('t'), atMs: 0, userText: text, assistantText: text, images: 0 },
    ]),
  'an estimate of tokens': (text) => estimateTokens(text),
  'a stored answer': (text) => readStoredAnswer(formatStoredAnswer({ kind: 'answered', text })),
  'a line of the log': scrub,
  'a page': (text) => html`${text}`.text,
  'a name': plainName,
  'a stream': streamed,
  'the built-in model': async (text) => {
    const body = { model: 'svc-max', messages: [{ role: 'user', content: text }] };
    await composeAnswer(readChatRequest(body, models), docs);
  },
  'the built-in model with a tool': async (text) => {
    const messages = [{ role: 'user', content: `Call look_up for ${text}` }];
    await composeAnswer(readChatRequest({ model: 'svc-max', messages, tools: [declared] }, models), docs);
  },
  'tokens of the built-in model': splitTokens,
  'thoughts of an engine': parted,
  'calls in a text': readCalls,
  'calls in a text that begins like one': (text) => [readCalls(`f(a)${text}`), readCalls(`<tool=f>${text}`)],
};

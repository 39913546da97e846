import { expect } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { personKey } from '../../src/bot/identity/account.ts';
import { keys } from '../../src/bot/identity/store.ts';
import type { GroupScope } from '../../src/bot/domain/conversation.ts';
import { helloStream, type ReceivedCall } from '../bot/model/scripted-chat-server.ts';
import { seededRandom, type SeededRandom } from '../support/seeded-random.ts';
import type { SlackDeployment } from '../support/slack-deployment.ts';
import { personOf, storeSignIn } from '../support/stored-sign-in.ts';
import { untilTrue } from '../support/deployment.ts';
import { installIn, MORE_WORKSPACES, SECOND_TEAM } from '../support/slack-workspaces.ts';
import { createWecomSender, type WecomSender } from '../support/wecom-sender.ts';
import { answerCanary, canariesIn, LeakModel, questionCanary, summaryCanary, type Spot } from './leak-model.ts';

export interface LeakRunOptions {
  deployment: SlackDeployment;
  scope: GroupScope;
  /** Number of questions and slash words. */
  turns: number;
  seed: string;
}

export interface LeakFigures {
  questions: number;
  prompts: number;
  /** Prompts with content other than their question. */
  withContext: number;
  /** Prompts with a summary. */
  withSummary: number;
  crossings: string[];
}

const PEOPLE = 8;
const ACTIONS_AT_ONCE = 12;
/** Makes conversations longer than a prompt. */
const PADDING = ' and so on'.repeat(30);
const WECOM = {
  token: 'leaktoken',
  aesKey:
    randomBytes(33)
      .toString('base64')
      .replace(/[^A-Za-z0-9]/g, 'x')
      .slice(0, 42) + 'A',
};
const PLATFORMS = ['wecom', 'slack', 'slack2'] as const;
const ACCOUNTS = ['', 'acc-1', 'acc-2'] as const;

interface RunState {
  deployment: SlackDeployment;
  wecom: WecomSender;
  model: LeakModel;
  random: SeededRandom;
  accounts: Map<string, string>;
  threads: Spot[];
  sent: number;
  figures: LeakFigures;
}

/**
 * Random concurrent conversations of several people on two platforms, one with two workspaces with the same ids, by signed
 * webhook deliveries with one canary each. The scripted model records every prompt, which must not contain a canary of
 * another person, group or thread.
 */
export async function runLeaks({ deployment, scope, turns, seed }: LeakRunOptions): Promise<LeakFigures> {
  const model = new LeakModel(scope);
  const wecom = createWecomSender({ botUrl: deployment.botUrl, ...WECOM });
  const random = seededRandom(seed);
  const figures: LeakFigures = { questions: 0, prompts: 0, withContext: 0, withSummary: 0, crossings: [] };
  const state: RunState = { deployment, wecom, model, random, accounts: new Map(), threads: [], sent: 0, figures };
  deployment.chat.script((response, call) => {
    if (isForSummary(call)) return helloStream(summed(call))(response, call);
    const asked = canariesIn(JSON.stringify(call.body['messages'])).at(-1) ?? 0;
    return helloStream(answerCanary(asked) + PADDING)(response, call);
  });
  await startLeakBot(deployment, scope);
  while (state.sent < turns) {
    for (let count = 0; count < ACTIONS_AT_ONCE; count += 1) await act(state);
    await untilDone(deployment);
    judge(state);
    // The test sends the messages of a minute within a second.
    await deployment.redis.del('none', ...(await deployment.redis.keys('*:rate:*')));
    if (random.oneIn(2)) await changeSignIn(state);
  }
  return { ...figures, questions: model.size };
}

/** Starts a bot on both platforms with short prompts and optional sign-in. */
export async function startLeakBot(deployment: SlackDeployment, scope: GroupScope): Promise<void> {
  await deployment.startBot({
    GROUP_SCOPE: scope,
    CHAT_PROMPT_TOKENS: '1000',
    WECOM_BOT_TOKEN: WECOM.token,
    WECOM_BOT_AES_KEY: WECOM.aesKey,
    WECOM_BOT_NAME: 'Parley',
    SIGN_IN: 'optional',
    SIGN_IN_URL: deployment.chat.baseUrl,
    SIGN_IN_CLIENT_ID: 'leaks',
    SIGN_IN_CLIENT_SECRET: 'leaks-secret-0123456789',
    SIGN_IN_PROOF: 'same-id',
    ...MORE_WORKSPACES,
  });
  await installIn(deployment, SECOND_TEAM);
}

export async function untilDone({ redis }: SlackDeployment): Promise<void> {
  await untilTrue(async () => (await redis.keys('*:pending')).length === 0, 60_000);
}

async function act(state: RunState): Promise<void> {
  const { random } = state;
  const platform = random.pick(PLATFORMS);
  const number = random.integer(1, PEOPLE);
  const person = platform === 'wecom' ? `person${number}` : `UP${number}`;
  const spot = chooseSpot(state, platform, person);
  switch (random.integer(1, 10)) {
    case 1:
      await word(state, spot, person, '/new');
      state.model.forget(spot, person);
      return;
    case 4: {
      // Earlier prompts may contain text that is forgotten now, and a turn in another thread may keep it; a question
      // elsewhere in the chat may still see it before this one is done.
      await untilDone(state.deployment);
      judge(state);
      await word(state, spot, person, '/forget');
      await untilDone(state.deployment);
      state.model.erase(spot, person);
      return;
    }
    case 2:
      return word(state, spot, person, '/retry');
    case 3:
      // Several concurrent questions: the waiting ones are merged into one turn.
      for (let count = 0; count < 3; count += 1) await ask(state, spot, person);
      return;
    default:
      return ask(state, spot, person);
  }
}

function chooseSpot({ random, threads }: RunState, platform: Spot['platform'], person: string): Spot {
  const open = threads.filter((spot) => spot.platform === platform && (spot.kind === 'group' || spot.chat === person));
  const [first, ...rest] = open.slice(-6);
  if (first && random.oneIn(3)) return random.pick([first, ...rest]);
  if (random.oneIn(2)) return { platform, kind: 'private', chat: person };
  const chat = platform === 'wecom' ? `wr${random.integer(1, 2)}` : `C${random.integer(1, 2)}`;
  return { platform, kind: 'group', chat };
}

async function ask(state: RunState, spot: Spot, person: string): Promise<void> {
  const { model, random, accounts, threads } = state;
  const hasQuote = spot.platform === 'wecom' && model.size > 0 && random.oneIn(4);
  const quotes = hasQuote ? [random.integer(1, model.size)] : [];
  const ts = `17600000${String((state.sent += 1)).padStart(6, '0')}.000100`;
  const opens = spot.platform !== 'wecom' && spot.thread === undefined ? { ...spot, thread: ts } : undefined;
  const account = accounts.get(`${spot.platform} ${person}`) ?? '';
  const id = model.say({ spot, person, account, quotes, ...(opens ? { opens } : {}) });
  if (opens) threads.push(opens);
  const text = `${questionCanary(id)}${PADDING}`;
  await send(state, { spot, person, text, ts, quote: quotes.map(questionCanary).join(' ') });
}

async function word(state: RunState, spot: Spot, person: string, text: string): Promise<void> {
  await send(state, {
    spot,
    person,
    text,
    ts: `17600000${String((state.sent += 1)).padStart(6, '0')}.000100`,
    quote: '',
  });
}

async function send(
  { deployment, wecom }: RunState,
  { spot, person, text, ts, quote }: { spot: Spot; person: string; text: string; ts: string; quote: string },
): Promise<void> {
  if (spot.platform === 'wecom') {
    const isGroup = spot.kind === 'group';
    const { status } = await wecom.send({
      msgid: `leak-${ts}`,
      aibotid: 'aibot-leaks',
      ...(isGroup ? { chattype: 'group', chatid: spot.chat } : { chattype: 'single' }),
      from: { userid: person },
      msgtype: 'text',
      text: { content: isGroup ? `@Parley ${text}` : text },
      ...(quote === '' ? {} : { quote: { msgtype: 'text', text: { content: quote } } }),
    });
    expect(status).toBe(200);
    return;
  }
  const said = { user: person, ts, ...(spot.thread === undefined ? {} : { thread_ts: spot.thread }) };
  const event =
    spot.kind === 'private'
      ? { type: 'message', channel_type: 'im', channel: `D${person}`, text, ...said }
      : { type: 'app_mention', channel: spot.chat, text: `<@UBOT> ${text}`, ...said };
  const from = spot.platform === 'slack2' ? { team_id: SECOND_TEAM } : {};
  expect(await deployment.sender.event(event, from)).toBe(200);
}

export const isForSummary = ({ body }: ReceivedCall) => JSON.stringify(body['messages']).includes('You keep the notes');

/** A summary with every canary of its sources, each under a separate name. */
export function summed({ body }: ReceivedCall): string {
  return [...new Set(canariesIn(JSON.stringify(body['messages'])))].map(summaryCanary).join(' ');
}

function judge({ deployment, model, figures }: RunState): void {
  for (const call of deployment.chat.calls.splice(0)) {
    // The sources of a summary show in the prompts that contain it.
    if (isForSummary(call)) continue;
    const { body } = call;
    const canaries = canariesIn(JSON.stringify(body['messages']));
    const question = canariesIn(JSON.stringify((body['messages'] as unknown[]).at(-1)));
    model.merge(question);
    const crossed = model.crossings(canaries, question);
    figures.prompts += 1;
    if (new Set(canaries).size > 1) figures.withContext += 1;
    if (/ks\d{5}x/.test(JSON.stringify(body['messages']))) figures.withSummary += 1;
    if (crossed.length > 0) figures.crossings.push(`${crossed.join()} in the prompt of ${canaries.at(-1)}`);
  }
}

/** One person signs in, out, or in with another account. */
async function changeSignIn({ deployment, random, accounts }: RunState): Promise<void> {
  const platform = random.pick(PLATFORMS);
  const number = random.integer(1, PEOPLE);
  const chatUserId = platform === 'wecom' ? `person${number}` : `UP${number}`;
  const account = random.pick(ACCOUNTS);
  accounts.set(`${platform} ${chatUserId}`, account);
  await linkAs(deployment, { platform, chatUserId }, account);
}

/** Stores a person's link like a completed sign-in. @param account empty to remove the link */
export async function linkAs(
  deployment: SlackDeployment,
  { platform, chatUserId }: { platform: Spot['platform']; chatUserId: string },
  account: string,
): Promise<void> {
  const person =
    platform === 'slack2' ? { ...personOf('slack', chatUserId), tenant: SECOND_TEAM } : personOf(platform, chatUserId);
  await deployment.redis.del(keys.link(personKey(person)));
  if (account !== '') await storeSignIn(deployment, person, { accountKey: account, id: `${account}-${chatUserId}` });
}

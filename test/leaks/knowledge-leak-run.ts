import { expect } from '@jest/globals';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { personKey } from '../../src/bot/identity/account.ts';
import { keys } from '../../src/bot/identity/store.ts';
import { chunk, helloStream, streamOf, type ReceivedCall } from '../bot/model/scripted-chat-server.ts';
import { untilTrue } from '../support/deployment.ts';
import { seededRandom, type SeededRandom } from '../support/seeded-random.ts';
import type { SlackDeployment } from '../support/slack-deployment.ts';
import { personOf, storeSignIn } from '../support/stored-sign-in.ts';
import { isForSummary, untilDone } from './leak-run.ts';
import {
  documentCanary,
  documentWord,
  documentsIn,
  makeDocument,
  mayRead,
  SOURCES,
  type Facts,
  type LeakDocument,
} from './knowledge-leak-model.ts';

const PEOPLE = 6;
const ACTIONS_AT_ONCE = 8;
const GROUPS = ['C1', 'C2'] as const;
/** A scene limits this group to one source. */
const NARROW_GROUP = 'C2';

export interface KnowledgeLeakFigures {
  prompts: number;
  /** Requests with search results. */
  searched: number;
  /** Documents that were shown to a person. */
  told: number;
  crossings: string[];
}

/**
 * The person and place of a question. Rights are checked at the end of the turn, since a question may be asked again later.
 */
interface Turn {
  person: string;
  group?: string;
}

interface RunState {
  deployment: SlackDeployment;
  random: SeededRandom;
  documents: readonly LeakDocument[];
  people: Map<string, Facts | undefined>;
  turns: Turn[];
  /** Documents shown to each account in each private chat or group. They stay in that conversation. */
  told: Map<string, Set<number>>;
  seenTexts: Map<string, number>;
  sent: number;
  scene: readonly string[] | undefined;
  figures: KnowledgeLeakFigures;
}

/**
 * Random questions of people with different rights about many documents, with a model that requests any document and repeats
 * all results. Every text that reaches the model or a chat must be one that this person may read there.
 */
export async function runKnowledgeLeaks(
  deployment: SlackDeployment,
  { turns, documents: count, seed }: { turns: number; documents: number; seed: string },
): Promise<KnowledgeLeakFigures> {
  const random = seededRandom(seed);
  const folder = mkdtempSync(join(tmpdir(), 'parley-leaks-'));
  try {
    const documents = Array.from({ length: count }, (_, index) => makeDocument(random, index + 1));
    writeDocuments(folder, documents);
    const figures = { prompts: 0, searched: 0, told: 0, crossings: [] };
    const state: RunState = {
      ...{ deployment, random, documents, people: new Map(), turns: [], told: new Map(), seenTexts: new Map() },
      ...{ sent: 0, scene: undefined, figures },
    };
    deployment.chat.script((response, call) => greedy(state, response, call));
    const app = await startBot(state, folder);
    await untilIndexed(state);
    while (state.sent < turns) {
      if (random.oneIn(2)) await changePerson(state);
      if (random.oneIn(6)) {
        changeScenes(state, folder);
        await app.reread();
      }
      for (let index = 0; index < ACTIONS_AT_ONCE; index += 1) await act(state);
      await untilDone(deployment);
      judge(state);
      await deployment.redis.del('none', ...(await deployment.redis.keys('*:rate:*')));
    }
    figures.told = new Set([...state.told.values()].flatMap((told) => [...told])).size;
    return figures;
  } finally {
    await deployment.stopBots();
    rmSync(folder, { recursive: true, force: true });
  }
}

function writeDocuments(folder: string, documents: readonly { path: string; text: string }[]): void {
  for (const { path, text } of documents) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  for (const name of Object.keys(SOURCES)) mkdirSync(join(folder, name), { recursive: true });
  const sources = Object.entries(SOURCES).map(([name, readers]) => ({
    ...{ name, folder: name },
    ...(readers === 'nobody' ? {} : { readers }),
  }));
  writeFileSync(join(folder, 'knowledge.json'), JSON.stringify({ sources }));
}

function changeScenes(state: RunState, folder: string): void {
  state.scene = state.random.pick([undefined, ['campus'], ['staff', 'it'], []]);
  const narrow = { name: 'narrow', groups: [NARROW_GROUP], knowledge: ['campus'] };
  const all = state.scene === undefined ? [] : [{ name: 'private', groups: 'none', knowledge: state.scene }];
  writeFileSync(join(folder, 'scenes.json'), JSON.stringify([narrow, ...all]));
}

async function startBot(state: RunState, folder: string) {
  const { deployment } = state;
  changeScenes(state, folder);
  return deployment.startBot({
    KNOWLEDGE_FILE: join(folder, 'knowledge.json'),
    SCENES_FILE: join(folder, 'scenes.json'),
    DATA_DIR: join(folder, 'data'),
    SIGN_IN: 'optional',
    SIGN_IN_URL: deployment.chat.baseUrl,
    SIGN_IN_CLIENT_ID: 'leaks',
    SIGN_IN_CLIENT_SECRET: 'leaks-secret-0123456789',
    SIGN_IN_PROOF: 'same-id',
  });
}

/** A public document is found once the index is built. */
async function untilIndexed(state: RunState): Promise<void> {
  await untilTrue(async () => {
    // Each question is new, so that the model searches in another way.
    await send(state, { person: 'U0', text: `kq00000x library ${state.sent}` });
    await untilDone(state.deployment);
    const calls = state.deployment.chat.calls.splice(0);
    return calls.some(({ body }) => documentsIn(JSON.stringify(body['messages'])).length > 0);
  }, 60_000);
  state.seenTexts.clear();
}

/** A model that follows injected instructions: it requests the documents of others and repeats all that it gets. */
function greedy({ documents }: RunState, response: Parameters<ReturnType<typeof helloStream>>[0], call: ReceivedCall) {
  const messages = call.body['messages'] as { role: string; content: unknown }[];
  const all = documentsIn(JSON.stringify(messages)).map(documentCanary).join(' ');
  if (isForSummary(call)) return helloStream(`We spoke of ${all}`)(response, call);
  if (messages.at(-1)?.role === 'tool' || call.body['tools'] === undefined)
    return helloStream(`All of it: ${all} [1][2][3][4][5][6][7][8]`)(response, call);
  // Drawn from the question: which model call comes first must not change what people do next.
  const random = seededRandom(questionIn(messages));
  const wanted = documentWord(random.integer(1, documents.length));
  const queries = ['library canteen leave portal', `Guide ${wanted}`, '图书馆 开门', 'staff 3100 readers public'];
  const hostile = [
    {},
    {},
    {},
    { readers: 'public' },
    { person: { identityCode: 'JG', department: '3100' } },
    { only: ['it'] },
  ];
  const calls = Array.from({ length: random.integer(1, 3) }, (_, index) => ({
    ...{ index, id: `c${index}`, type: 'function' },
    function: {
      name: 'knowledge_search',
      arguments: JSON.stringify({ query: random.pick(queries as [string]), ...random.pick(hostile as [object]) }),
    },
  }));
  return streamOf(chunk({ tool_calls: calls }, 'tool_calls'))(response, call);
}

const questionIn = (messages: readonly { role: string }[]) =>
  JSON.stringify(messages.findLast(({ role }) => role === 'user'));

async function act(state: RunState): Promise<void> {
  const { random } = state;
  const person = `U${random.integer(1, PEOPLE)}`;
  const group = random.oneIn(3) ? random.pick(GROUPS) : undefined;
  const number = state.turns.push({ person, group });
  const asked = `kq${String(number).padStart(5, '0')}x`;
  const text = random.oneIn(4) ? random.pick(['/retry', '/sources', '/new'] as const) : `${asked} What of the library?`;
  await send(state, { person, group, text });
}

async function send(state: RunState, { person, group, text }: { person: string; group?: string; text: string }) {
  const ts = `17600000${String((state.sent += 1)).padStart(6, '0')}.000100`;
  const event =
    group === undefined
      ? { type: 'message', channel_type: 'im', channel: `D${person}`, text, user: person, ts }
      : { type: 'app_mention', channel: group, text: `<@UBOT> ${text}`, user: person, ts };
  expect(await state.deployment.sender.event(event)).toBe(200);
}

/** The daily check finds another department for a person, or they sign in with another account, or out. */
async function changePerson({ deployment, random, people }: RunState): Promise<void> {
  const chatUserId = `U${random.integer(1, PEOPLE)}`;
  const person = personOf('slack', chatUserId);
  const account = random.pick(['', 'acc-1', 'acc-1', 'acc-2'] as const);
  await deployment.redis.del(keys.link(personKey(person)));
  people.set(chatUserId, undefined);
  if (account === '') return;
  const facts: Facts = {
    account: `${account}-${chatUserId}`,
    identity: random.pick(['JG', 'XS', 'QT'] as const),
    department: random.pick(['3100', '3199', '2203', '2107'] as const),
  };
  people.set(chatUserId, facts);
  const { identity: identityCode, department } = facts;
  await storeSignIn(deployment, person, { accountKey: account, id: facts.account, identityCode, department });
}

function judge(state: RunState): void {
  judgePrompts(state);
  judgeChats(state);
}

function judgePrompts({ deployment, documents, turns, people, scene, told, figures }: RunState): void {
  for (const call of deployment.chat.calls.splice(0)) {
    if (isForSummary(call)) continue;
    const messages = call.body['messages'] as { role: string }[];
    const turn = turns[Number(/kq(\d{5})x/.exec(questionIn(messages))?.[1] ?? 0) - 1];
    if (!turn) continue;
    figures.prompts += 1;
    const { person, group } = turn;
    const facts = people.get(person);
    const limit = group === NARROW_GROUP ? ['campus'] : group === undefined ? scene : undefined;
    const place = group ?? `${person} ${facts?.account ?? ''}`;
    const known = told.get(place) ?? new Set();
    told.set(place, known);
    const found = documentsIn(JSON.stringify(messages.filter(({ role }) => role === 'tool')));
    if (found.length > 0) figures.searched += 1;
    for (const number of found) {
      const document = documents[number - 1];
      const isLimited = document && limit && !limit.includes(document.source);
      // The name of a document inside another one reveals nothing about it.
      if (!isHead(messages, number)) continue;
      if (!document || isLimited || !mayRead(document, facts, group !== undefined))
        figures.crossings.push(`document ${number} reached the prompt of ${JSON.stringify({ ...turn, ...facts })}`);
    }
    for (const number of found) known.add(number);
    const rest = documentsIn(JSON.stringify(messages.filter(({ role }) => role !== 'tool')));
    for (const number of rest.filter((one) => !known.has(one)))
      figures.crossings.push(`document ${number} stands in the history of ${JSON.stringify({ ...turn, ...facts })}`);
  }
}

/** Whether the document itself was found: its title is at the head of a result. */
function isHead(messages: readonly { role: string }[], number: number): boolean {
  const results = messages.filter(({ role }) => role === 'tool') as { content?: unknown }[];
  return results.some(({ content }) =>
    String(content)
      .split('\n')
      .some((line) => /^\[\d+\] /.test(line) && line.includes(documentCanary(number))),
  );
}

/** The new texts in the chats since the last check. */
function judgeChats({ deployment, people, told, seenTexts, figures }: RunState): void {
  const privates = Array.from({ length: PEOPLE }, (_, index) => `U${index + 1}`);
  for (const place of [...GROUPS, ...privates]) {
    const channel = place.startsWith('U') ? `D${place}` : place;
    const texts = deployment.textsIn(channel);
    const fresh = texts.slice(seenTexts.get(channel) ?? 0);
    seenTexts.set(channel, texts.length);
    const known = told.get(place.startsWith('U') ? `${place} ${people.get(place)?.account ?? ''}` : place);
    for (const number of fresh.flatMap(documentsIn))
      if (known?.has(number) !== true) figures.crossings.push(`document ${number} is shown in ${channel}`);
  }
}

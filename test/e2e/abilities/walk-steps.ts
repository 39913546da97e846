import { expect } from '@jest/globals';
import sharp from 'sharp';
import type { MessageView } from '../../../src/simulator/api.ts';
import type { PlatformHere } from '../../support/both-platforms.ts';
import { messagesWaiting } from '../../support/messages-waiting.ts';
import { seenOf, type Screen } from '../../support/screen.ts';
import type { SmallWeb } from '../../support/small-web.ts';
import { untilTrue, type Deployment } from '../../support/deployment.ts';
import type { AbilityRow, Pattern, ReadHere, Step } from './ability-row.ts';

/** The deployment and the people of one walk. */
export interface Walker {
  deployment: Deployment;
  platform: PlatformHere;
  web: SmallWeb;
  language: 'en' | 'zh';
  asker: string;
  neighbour: string;
  /** The asker's page. */
  screen: Screen;
}

const GROUP = { group: 'wrtown' };
const CODE = /class="symbols">([0-9A-Z]{4}-[0-9A-Z]{4})</;
const LIMIT_MS = 10_000;

/** Sends each message in turn and checks its effects. */
export async function walkSteps(walker: Walker, steps: readonly Step[]): Promise<void> {
  let first: MessageView | undefined;
  for (const step of steps) {
    const message = await walkStep(walker, step, first);
    first ??= message;
  }
}

async function walkStep(walker: Walker, step: Step, first: MessageView | undefined): Promise<MessageView> {
  const { deployment, web, screen } = walker;
  const before = { events: screen.events.length, lines: deployment.lines.length };
  if (step.afterMs !== undefined) deployment.advance(step.afterMs);
  const letGo = step.doing && web.hold();
  try {
    const message = await say(walker, step, first);
    const apart = async () => (await seen(walker, message, before.events)).apart;
    if (step.signsIn) await signInFor(walker, message, step.signsIn);
    if (step.doing) await untilAny(apart, readHere(walker, step.doing));
    const others = step.meanwhile ? await sayMeanwhile(walker, message, step) : [];
    letGo?.();
    await untilRead(() => shownText(deployment, message), readHere(walker, step.reads));
    if (step.apart) await untilAny(apart, readHere(walker, step.apart));
    await untilTrue(async () => (await messagesWaiting(deployment.redis)) === 0, LIMIT_MS);
    for (const { other, reads } of others) await untilRead(() => shownText(deployment, other), readHere(walker, reads));
    const { snapshots, apart: besides } = await seen(walker, message, before.events);
    if (step.hides) expect([...snapshots, ...besides].join('\n')).not.toMatch(step.hides);
    if (step.model !== undefined) expect(modelsOf(deployment.lines.slice(before.lines))).toEqual([step.model]);
    return message;
  } finally {
    letGo?.();
  }
}

/** Sends the messages of `meanwhile` while the answer grows or while a tool works for it. */
async function sayMeanwhile(walker: Walker, message: MessageView, { meanwhile = [], doing }: Step) {
  const { deployment } = walker;
  if (!doing) await untilRead(() => shownText(deployment, message), /^1 2 3/);
  const others: { other: MessageView; reads: ReadHere }[] = [];
  for (const step of meanwhile) {
    others.push({ other: await say(walker, step, message), reads: step.reads });
    // Waits until the message is queued, so that the next one comes after it.
    if (doing) await untilTrue(async () => (await messagesWaiting(deployment.redis)) === 1 + others.length, LIMIT_MS);
  }
  return others;
}

async function signInFor(walker: Walker, message: MessageView, { first, told }: NonNullable<Step['signsIn']>) {
  const { deployment, asker, screen } = walker;
  const from = screen.events.length;
  await untilRead(() => shownText(deployment, message), readHere(walker, first));
  await signIn(deployment, asker, await shownText(deployment, message));
  const texts = () => screen.events.slice(from).flatMap(({ name, data }) => (name === 'message' ? data.text : []));
  await untilAny(texts, readHere(walker, told));
}

/** Number of sent messages that get no answer of their own. */
export function countUnanswered(here: Pick<Walker, 'platform' | 'language'>, rows: readonly AbilityRow[]): number {
  const said = rows.flatMap(({ steps }) => steps.flatMap((step) => [step, ...(step.meanwhile ?? [])]));
  return said.filter(({ reads }) => readHere(here, reads) === '').length;
}

/** Signs in by the link in a text. If the browser shows a code, sends the code in the chat. */
export async function signIn(deployment: Deployment, person: string, invitation: string): Promise<void> {
  const code = CODE.exec(await deployment.signIn(person, invitation))?.[1];
  if (code !== undefined) await deployment.messenger.driver.send(person, code);
}

/** The current text of the answer to a message. */
export async function shownText({ messenger }: Deployment, { id }: MessageView): Promise<string> {
  return (await messenger.driver.answer(id))?.text ?? '';
}

/** Waits until the text matches. @throws jest's mismatch error with the current text */
export async function untilRead(read: () => Promise<string>, pattern: Pattern): Promise<void> {
  await untilTrue(async () => fits(pattern, await read()), LIMIT_MS).catch(async () =>
    expect(await read()).toEqual(typeof pattern === 'string' ? pattern : expect.stringMatching(pattern)),
  );
}

async function untilAny(read: () => Promise<string[]> | string[], pattern: Pattern): Promise<void> {
  await untilTrue(async () => (await read()).some((line) => fits(pattern, line)), LIMIT_MS).catch(async () =>
    expect(await read()).toContainEqual(typeof pattern === 'string' ? pattern : expect.stringMatching(pattern)),
  );
}

async function say(
  { deployment, platform, web, language, asker, neighbour }: Walker,
  { by, in: place, isUnaddressed, says, pictures = [], quotesFirst }: Step,
  first: MessageView | undefined,
): Promise<MessageView> {
  return deployment.messenger.driver.send(by === 'neighbour' ? neighbour : asker, {
    // Slack reserves a leading slash for its own commands.
    text: says[language].replace('{web}', web.pageUrl).replace(platform === 'slack' ? /^\// : /^$/, ''),
    images: await Promise.all(pictures.map(picture)),
    ...(place === 'group' ? { conversation: GROUP, mention: !isUnaddressed } : {}),
    ...(quotesFirst && first ? { quote: first.id } : {}),
  });
}

/** A picture that the tests recognise by its width. */
async function picture(width: number | 'damaged'): Promise<Buffer> {
  if (width === 'damaged') return (await picture(20)).subarray(0, 60);
  return sharp({ create: { width, height: 20, channels: 3, background: '#c04030' } })
    .png()
    .toBuffer();
}

async function seen({ deployment, screen }: Walker, message: MessageView, from: number) {
  const answer = await deployment.messenger.driver.answer(message.id);
  return seenOf(screen, from, message.conversationId, answer?.id);
}

function readHere({ platform, language }: Pick<Walker, 'platform' | 'language'>, read: ReadHere): Pattern {
  return ('en' in read ? read : read[platform])[language];
}

function fits(pattern: Pattern, text: string): boolean {
  return typeof pattern === 'string' ? text === pattern : pattern.test(text);
}

function modelsOf(lines: readonly string[]): string[] {
  return lines
    .filter((line) => line.includes('"chat call ended"'))
    .map((line) => (JSON.parse(line) as { model: string }).model);
}

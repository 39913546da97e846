import type { ButtonView, CardView } from '../api.ts';
import { asFields, type Fields } from './fields.ts';

/** Effect of a press on a card: notifies the bot, sends a message as the person, or opens an address. */
type CardPress = { kind: 'event'; key: string } | { kind: 'question'; text: string } | { kind: 'none' };

export interface CardButton {
  view: ButtonView;
  press: CardPress;
}

/** A valid template card. */
export interface Card {
  type: string;
  taskId?: string;
  /** Plain text, for lists and for clients that do not show cards. */
  words: string;
  view: CardView;
  /** A row of its own buttons, and a row of its links. */
  buttons: CardButton[][];
  /** As it was sent. */
  sent: unknown;
}

/** Limits of PLATFORM_FACTS.md wecom-cards. */
const TYPES = new Set(['text_notice', 'news_notice', 'button_interaction', 'vote_interaction', 'multiple_interaction']);
const TASK_ID = /^[0-9A-Za-z_\-@]{1,128}$/;
const MAX_KEY_BYTES = 1_024;
const MAX_QUESTION_BYTES = 200;
const MAX_OPTION_ID_BYTES = 128;
/** Minimum and maximum numbers of each element. */
const COUNTS: Readonly<Record<string, readonly [number, number]>> = {
  button_list: [0, 6],
  horizontal_content_list: [0, 6],
  jump_list: [0, 3],
  vertical_content_list: [0, 4],
  select_list: [0, 3],
};
const ASPECT_RATIO = [1.3, 2.25] as const;
/** Target of a jump or a card. */
const LINK = 1;
const PROGRAM = 2;
const QUESTION = 3;

class Refusal extends Error {}

/** Validates a template card by the rules of PLATFORM_FACTS.md wecom-cards. Pure. */
export function readCard(sent: unknown): { card: Card } | { refused: string } {
  try {
    return { card: read(asFields(sent), sent) };
  } catch (error) {
    if (error instanceof Refusal) return { refused: error.message };
    throw error;
  }
}

/** The button with this id, this key or question, or this label. */
export function findCardButton({ buttons }: Card, wanted: string): CardButton | undefined {
  const all = buttons.flat();
  return (
    all.find(({ view }) => view.id === wanted) ??
    all.find(
      ({ press }) => (press.kind === 'event' ? press.key : press.kind === 'question' && press.text) === wanted,
    ) ??
    all.find(({ view }) => view.label === wanted)
  );
}

function read(card: Fields, sent: unknown): Card {
  const type = String(card['card_type']);
  demand(TYPES.has(type), 'the card has an unknown type');
  for (const [name, [, most]] of Object.entries(COUNTS))
    demand(listOf(card, name).length <= most, `the card has more than ${most} of ${name}`);
  const title = asFields(card['main_title']);
  const view = viewOf(card, title);
  const words = [view.title, view.desc, view.text].filter((line) => line !== undefined).join('\n\n');
  demand(view.title !== undefined || view.text !== undefined, 'the card has neither a title nor a text');
  judgeAction(card, type);
  judgeInputs(card);
  const own = [...readButtons(card, type), ...readMenu(card)];
  const rows = [own, listOf(card, 'jump_list').map(readJump)].filter(({ length }) => length > 0);
  return { type, taskId: readTaskId(card, type), words, view, buttons: rows, sent };
}

function viewOf(card: Fields, title: Fields): CardView {
  const emphasis = asFields(card['emphasis_content']);
  const facts = listOf(card, 'horizontal_content_list').map((one) => ({
    name: textOf(one['keyname']) ?? '',
    value: textOf(one['value']) ?? '',
  }));
  const more = listOf(card, 'vertical_content_list').map((one) =>
    [textOf(one['title']), textOf(one['desc'])].filter((line) => line !== undefined).join(': '),
  );
  const action = asFields(card['card_action']);
  return {
    title: textOf(title['title']),
    desc: textOf(title['desc']),
    emphasis: textOf(emphasis['title']),
    text: [textOf(card['sub_title_text']), ...more].filter((line) => line !== undefined).join('\n') || undefined,
    facts: facts.length === 0 ? undefined : facts,
    url: action['type'] === LINK ? textOf(action['url']) : undefined,
  };
}

function judgeAction(card: Fields, type: string): void {
  const action = card['card_action'];
  if (action === undefined) return demand(type !== 'text_notice', 'a text_notice needs a card_action');
  const { type: kind, url, appid } = asFields(action);
  demand(
    kind === LINK || kind === PROGRAM || (kind === 0 && type !== 'text_notice'),
    'the card_action has an unknown type',
  );
  demand(kind !== LINK || textOf(url) !== undefined, 'the card_action has no url');
  demand(kind !== PROGRAM || textOf(appid) !== undefined, 'the card_action has no appid');
}

/** Selections, which cannot be made here but are validated too. */
function judgeInputs(card: Fields): void {
  const lists = listOf(card, 'select_list').map((one) => ({ options: listOf(one, 'option_list'), most: 10 }));
  const checkbox = card['checkbox'];
  if (checkbox !== undefined) lists.push({ options: listOf(asFields(checkbox), 'option_list'), most: 20 });
  for (const { options, most } of lists) {
    demand(options.length >= 1 && options.length <= most, `a choice has 1 to ${most} options`);
    demand(
      options.every(({ id }) => isText(id, MAX_OPTION_ID_BYTES)),
      'an option has no id of at most 128 bytes',
    );
  }
  const ratio = asFields(card['card_image'])['aspect_ratio'];
  const [least, most] = ASPECT_RATIO;
  demand(
    ratio === undefined || (typeof ratio === 'number' && ratio >= least && ratio <= most),
    'the picture is too narrow or too wide',
  );
}

function readTaskId(card: Fields, type: string): string | undefined {
  const id = card['task_id'];
  const isNeeded = type.endsWith('_interaction') || card['action_menu'] !== undefined;
  demand(id !== undefined || !isNeeded, 'the card needs a task_id');
  demand(id === undefined || (typeof id === 'string' && TASK_ID.test(id)), 'the task_id has an invalid format');
  return typeof id === 'string' ? id : undefined;
}

function readButtons(card: Fields, type: string): CardButton[] {
  const list = listOf(card, 'button_list');
  demand(type !== 'button_interaction' || list.length > 0, 'the card has no button');
  const keys = list.map(({ key }) => key);
  demand(new Set(keys).size === keys.length, 'two buttons have the same key');
  return list.map(({ text, key, style }) => {
    demand(style === undefined || [1, 2, 3, 4].includes(style as number), 'a button has an unknown style');
    return keyButton(text, key, style === 1 ? 'primary' : style === 3 ? 'danger' : undefined);
  });
}

function readMenu(card: Fields): CardButton[] {
  if (card['action_menu'] === undefined) return [];
  const list = listOf(asFields(card['action_menu']), 'action_list');
  demand(list.length >= 1 && list.length <= 3, 'the menu has 1 to 3 actions');
  return list.map(({ text, key }) => keyButton(text, key, undefined));
}

function keyButton(text: unknown, key: unknown, style: ButtonView['style']): CardButton {
  const label = textOf(text);
  if (label === undefined || !isText(key, MAX_KEY_BYTES))
    throw new Refusal('a button has no text, or no key of at most 1,024 bytes');
  return { view: { id: `key:${key}`, kind: 'button', label, style }, press: { kind: 'event', key } };
}

function readJump({ type = 0, title, url, appid, question }: Fields, index: number): CardButton {
  const label = textOf(title);
  if (label === undefined) throw new Refusal('a jump has no title');
  const view = { id: `jump:${index}`, kind: 'button', label } as const;
  switch (type) {
    case QUESTION:
      if (!isText(question, MAX_QUESTION_BYTES)) throw new Refusal('a jump has no question of at most 200 bytes');
      return { view, press: { kind: 'question', text: question } };
    case LINK:
      demand(textOf(url) !== undefined, 'a jump has no url');
      return { view: { ...view, url: textOf(url) }, press: { kind: 'none' } };
    case PROGRAM:
      demand(textOf(appid) !== undefined, 'a jump has no appid');
      return { view: { ...view, isOff: true }, press: { kind: 'none' } };
    default:
      demand(type === 0, 'a jump has an unknown type');
      return { view: { ...view, isOff: true }, press: { kind: 'none' } };
  }
}

function listOf(fields: Fields, name: string): Fields[] {
  const list = fields[name];
  demand(list === undefined || Array.isArray(list), `${name} is not a list`);
  return Array.isArray(list) ? list.map(asFields) : [];
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function isText(value: unknown, maxBytes: number): value is string {
  return typeof value === 'string' && value !== '' && Buffer.byteLength(value) <= maxBytes;
}

function demand(isSo: boolean, reason: string): void {
  if (!isSo) throw new Refusal(reason);
}

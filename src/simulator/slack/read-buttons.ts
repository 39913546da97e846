import type { ButtonView } from '../api.ts';
import { asObject, type CallArguments, type SlackBlock } from './call-arguments.ts';
import { SlackFault } from './slack-fault.ts';

/** A button in a message's blocks. */
export interface SlackButton {
  view: ButtonView;
  /** Content of the press event for the app, without its time. */
  action: { type: string; action_id: string; block_id: string; value?: string; text?: unknown };
}

/** Slack's limits (PLATFORM_FACTS.md slack-buttons): elements of a block, and characters. */
const MAX_ELEMENTS = { actions: 25, context_actions: 5 } as const;
const MAX_ID_CHARS = 255;
const MAX_LABEL_CHARS = 75;
const MAX_VALUE_CHARS = 2_000;
const MAX_URL_CHARS = 3_000;

/**
 * Validates a block of buttons. Menus and other inputs, which Slack also has, cannot be used here and are rejected.
 * @throws SlackFault `invalid_blocks`
 */
export function judgeButtons(block: SlackBlock): void {
  const { elements } = block;
  const kind = block['type'] === 'actions' ? 'actions' : 'context_actions';
  demand(Array.isArray(elements) && elements.length > 0 && elements.length <= MAX_ELEMENTS[kind]);
  const read = (elements as unknown[]).map(asElement);
  for (const element of read) {
    if (kind === 'actions') judgeButton(element);
    else judgeContextAction(element);
  }
  // As in Slack's error: `action_id` already exists.
  const ids = read.flatMap(({ action_id: id }) => (id === undefined ? [] : [id]));
  demand(new Set(ids).size === ids.length);
}

/** Adds an id to each block that has none. */
export function namedBlocks(blocks: readonly SlackBlock[]): SlackBlock[] {
  return blocks.map((block, index) => ({ ...block, block_id: block['block_id'] ?? `b${index}` }));
}

/** Buttons in blocks with ids, one row per block. */
export function buttonsOf(blocks: readonly SlackBlock[] = []): SlackButton[][] {
  return blocks.flatMap((block) => {
    if (block['type'] !== 'actions' && block['type'] !== 'context_actions') return [];
    const elements = (block['elements'] as CallArguments[]).map((element, index) => ({
      action_id: `a${index}`,
      ...element,
      block_id: String(block['block_id']),
    }));
    return [elements.flatMap(buttonsOfElement)];
  });
}

/** Finds a button by its id, by the kind of thumb, by the app's name for it, or by its label. */
export function findButton(blocks: readonly SlackBlock[] | undefined, wanted: string): SlackButton | undefined {
  const all = buttonsOf(blocks).flat();
  return (
    all.find(({ view }) => view.id === wanted) ??
    all.find(({ view }) => view.kind === wanted && wanted !== 'button') ??
    all.find(({ action }) => action.action_id === wanted || action.value === wanted) ??
    all.find(({ view }) => view.label === wanted)
  );
}

function judgeButton(element: CallArguments): void {
  demand(element['type'] === 'button');
  judgeCommon(element);
  judgeLabel(element['text']);
  const { style, url } = element;
  demand(style === undefined || style === 'primary' || style === 'danger');
  demand(url === undefined || isText(url, MAX_URL_CHARS));
}

function judgeContextAction(element: CallArguments): void {
  judgeCommon(element);
  if (element['type'] === 'icon_button') {
    demand(element['icon'] === 'trash');
    return judgeLabel(element['text']);
  }
  demand(element['type'] === 'feedback_buttons');
  for (const name of ['positive_button', 'negative_button']) {
    const thumb = asElement(element[name]);
    judgeLabel(thumb['text']);
    demand(isText(thumb['value'], MAX_VALUE_CHARS));
    judgeSpoken(thumb);
  }
}

function judgeCommon(element: CallArguments): void {
  const { action_id: id, value } = element;
  demand(id === undefined || isText(id, MAX_ID_CHARS));
  demand(value === undefined || (typeof value === 'string' && value.length <= MAX_VALUE_CHARS));
  judgeSpoken(element);
}

function judgeSpoken({ accessibility_label: label }: CallArguments): void {
  demand(label === undefined || isText(label, MAX_LABEL_CHARS));
}

function judgeLabel(value: unknown): void {
  const { type, text } = asElement(value);
  demand(type === 'plain_text' && isText(text, MAX_LABEL_CHARS));
}

function buttonsOfElement(element: CallArguments & { action_id: string; block_id: string }): SlackButton[] {
  const { type, action_id, block_id } = element;
  const id = `${block_id}/${action_id}`;
  const action = { type: String(type), action_id, block_id };
  if (type === 'feedback_buttons')
    return (['good', 'bad'] as const).map((kind) => {
      const thumb = element[kind === 'good' ? 'positive_button' : 'negative_button'] as CallArguments;
      const view = { id: `${id}/${kind}`, kind, label: spokenLabel(thumb) };
      return { view, action: { ...action, text: thumb['text'], value: String(thumb['value']) } };
    });
  const { value, style, url, text } = element;
  const view: ButtonView = {
    id,
    kind: type === 'icon_button' ? 'remove' : 'button',
    label: type === 'icon_button' ? spokenLabel(element) : labelOf(element),
    style: style === 'primary' || style === 'danger' ? style : undefined,
    url: typeof url === 'string' ? url : undefined,
  };
  return [{ view, action: { ...action, text, value: typeof value === 'string' ? value : undefined } }];
}

function spokenLabel(element: CallArguments): string {
  const { accessibility_label: spoken } = element;
  return typeof spoken === 'string' ? spoken : labelOf(element);
}

function labelOf({ text }: CallArguments): string {
  return (text as { text: string }).text;
}

function isText(value: unknown, maxChars: number): boolean {
  return typeof value === 'string' && value !== '' && value.length <= maxChars;
}

function asElement(value: unknown): CallArguments {
  return asObject(value, 'invalid_blocks');
}

function demand(isSo: boolean): void {
  if (!isSo) throw new SlackFault('invalid_blocks');
}

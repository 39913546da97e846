import { localTime } from '../../../shared/local-time.ts';
import { estimatesOf, IMAGE_TOKENS, MESSAGE_TOKENS } from './estimate-tokens.ts';
import type { HistoryTurn } from './history.ts';
import {
  LABEL_RULES,
  labelFile,
  labelQuote,
  labelSpeaker,
  labelSummary,
  labelThread,
  SUMMARY_RULES,
} from './label-text.ts';
import { contentOf, quotedParts, saidParts, textPart, type PlacedImage, type PromptPart } from './prompt-parts.ts';

/** A message of a prompt; assignable to the messages of the chat client. */
export type PromptMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: string | PromptPart[] }
  | { role: 'assistant'; content: string };

export interface CurrentQuestion {
  text: string;
  images: readonly PlacedImage[];
  /** Text of the message that the question quotes. */
  quote?: string;
  /** What was written in the thread before the question, as fitted into the prompt. */
  thread?: string;
  /** In a group, the tag of the user who asks. */
  speakerTag?: string;
  /** Files that the question may refer to, its own files last. */
  files?: readonly PromptFile[];
}

/** A file as shown to the model. */
export interface PromptFile {
  /** Without special characters, because it appears in the label. */
  name: string;
  /** Name of the sender, for a file that the thread shows. */
  from?: string;
  text: string;
  pictures: readonly { label: string; dataUrl: string }[];
  /** The file continues beyond the shown text. */
  isCut: boolean;
}

export interface PromptOptions {
  systemPrompt: string;
  /** Earlier turns, oldest first. */
  turns: readonly HistoryTurn[];
  current: CurrentQuestion;
  /** Summary of the turns before `turns`. Comes first, if the budget has room for it. */
  summary?: string;
  /** Images of earlier turns that are sent again, by turn id. For other turns, a marker states that they had images. */
  earlierImages?: EarlierImages;
  /** Earlier files that are stored. For other files, a marker states that they are no longer available. */
  filesAtHand?: FilesAtHand;
  /** Maximum estimated tokens of the whole prompt. Only the current question with the system prompt may exceed it. */
  budgetTokens: number;
  chatKind: 'private' | 'group';
  nowMs: number;
  /** The institution's time zone, for the date in the prompt. */
  timeZone: string;
  /** See `estimateTokens`. */
  tokenFactor?: number;
}

/** Whether the prompt contains an earlier file, by media id. */
export type FilesAtHand = ReadonlyMap<string, 'shown' | 'left-out'>;

/** All images of a turn, by turn id. */
export type EarlierImages = ReadonlyMap<string, readonly PlacedImage[]>;

const FILE_GOES_ON = '[The file goes on; what follows is not shown.]';
const LEFT_OUT =
  'The new question does not seem to need its content, which is left out. A question that mentions the file shows it again.';
const CUT_OFF = '[The answer was cut off here.]';
const NO_TEXT = '[A message without text.]';

export interface BuiltPrompt {
  messages: PromptMessage[];
  /** The prompt contains no earlier messages. */
  isBare: boolean;
  /** Earlier turns omitted because of the budget, oldest first. */
  droppedTurns: HistoryTurn[];
}

/**
 * Builds the messages for the model: the system prompt, as many of the newest earlier turns as fit the budget, and the
 * question. A summary of older turns is prepended to the first user message. Each prompt thus has one system message,
 * followed by alternating user and assistant messages, which is all that strict chat templates accept
 * (RELIABILITY.md strict-templates). Turns are omitted whole and oldest first, so that no answer loses its question. A
 * prompt for a group contains only group turns and a private prompt only private turns, whatever the caller passes
 * (SECURITY.md group-is-not-private).
 */
export function buildPrompt(options: PromptOptions): BuiltPrompt {
  const { chatKind, turns, current, budgetTokens, tokenFactor = 1 } = options;
  const usable = turns.filter((turn) => isAnsweredIn(turn, chatKind));
  const hasSpeakers = new Set([...usable, current].map(({ speakerTag }) => speakerTag)).size > 1;
  const hasFiles = (current.files ?? []).length > 0;
  const isCited = current.quote !== undefined || current.thread !== undefined;
  const hasLabels = hasSpeakers || hasFiles || isCited || hasQuotedImages(options);
  const system = writeSystem(options, hasLabels);
  const question = writeSaid({ ...current, speakerTag: hasSpeakers ? (current.speakerTag ?? '') : undefined });
  let leftTokens = budgetTokens - messageTokens(system, tokenFactor) - messageTokens(question, tokenFactor);
  const summary = options.summary === undefined ? undefined : writeSummary(options.summary);
  const summaryTokens = summary ? messageTokens({ role: 'user', content: summary }, tokenFactor) : 0;
  const hasRoom = summaryTokens <= leftTokens;
  if (hasRoom) leftTokens -= summaryTokens;
  const kept: PromptMessage[][] = [];
  for (const turn of usable.toReversed()) {
    const messages = writeTurn(turn, hasSpeakers, options);
    leftTokens -= promptTokens(messages, tokenFactor);
    if (leftTokens < 0) break;
    kept.push(messages);
  }
  const said = [...kept.toReversed().flat(), question];
  const isSummed = summary !== undefined && hasRoom;
  return {
    isBare: kept.length === 0 && !isSummed,
    messages: [system, ...(isSummed ? withSummary(summary, said) : said)],
    droppedTurns: usable.slice(0, usable.length - kept.length),
  };
}

/** Estimates the tokens of a prompt, including images. */
export function promptTokens(messages: readonly PromptMessage[], tokenFactor = 1): number {
  return messages.reduce((sum, message) => sum + messageTokens(message, tokenFactor), 0);
}

function messageTokens(message: PromptMessage, tokenFactor: number): number {
  const { content } = message;
  const images = typeof content === 'string' ? 0 : content.filter(({ type }) => type === 'image').length;
  return MESSAGE_TOKENS + textTokens(message, tokenFactor) + IMAGE_TOKENS * images;
}

const textTokens = estimatesOf(({ content }: PromptMessage) =>
  typeof content === 'string' ? content : content.map((part) => (part.type === 'text' ? part.text : '')).join(''),
);

function isAnsweredIn(turn: HistoryTurn, chatKind: 'private' | 'group'): boolean {
  return turn.assistantText.trim() !== '' && (turn.speakerTag !== undefined) === (chatKind === 'group');
}

function writeSummary(text: string): string {
  return contentOf([textPart(`${SUMMARY_RULES}\n`), ...labelSummary(text)]) as string;
}

/** The first message is a user message. */
function withSummary(summary: string, [first, ...rest]: readonly PromptMessage[]): PromptMessage[] {
  const said = first?.content ?? '';
  const parts = typeof said === 'string' ? [textPart(said)] : said;
  return [{ role: 'user', content: contentOf([textPart(`${summary}\n\n`), ...parts]) }, ...rest];
}

/** The message object is reused all day, so that its tokens are counted once. */
function writeSystem({ systemPrompt, nowMs, timeZone }: PromptOptions, hasLabels: boolean): PromptMessage {
  const { date, weekday } = localTime(nowMs, timeZone);
  const day = `${date} ${timeZone}`;
  if (written?.day !== day || written.systemPrompt !== systemPrompt)
    written = { day, systemPrompt, messages: new Map() };
  const known = written.messages.get(hasLabels);
  if (known) return known;
  const today = `Today is ${weekday}, ${date} (time zone ${timeZone}).`;
  const content = [systemPrompt.trim(), today, ...(hasLabels ? [LABEL_RULES] : [])].join('\n\n');
  const message: PromptMessage = { role: 'system', content };
  written.messages.set(hasLabels, message);
  return message;
}

let written: { day: string; systemPrompt: string; messages: Map<boolean, PromptMessage> } | undefined;

function writeTurn(
  turn: HistoryTurn,
  hasSpeakers: boolean,
  { earlierImages, filesAtHand }: Pick<PromptOptions, 'earlierImages' | 'filesAtHand'>,
): PromptMessage[] {
  const images = earlierImages?.get(turn.turnId);
  const markers = [...fileMarkers(turn, filesAtHand), ...(images ? [] : imageMarker(turn.images))];
  const text = [turn.userText, ...markers].filter((said) => said !== '').join('\n\n');
  const answer = turn.interrupted ? `${turn.assistantText}\n\n${CUT_OFF}` : turn.assistantText;
  return [
    writeSaid({ text, images: images ?? [], speakerTag: hasSpeakers ? (turn.speakerTag ?? '') : undefined }),
    { role: 'assistant', content: answer },
  ];
}

/**
 * Markers that name the files of an earlier message; without them, the model invents the contents. The contents themselves,
 * while they are available, precede the current question.
 */
function fileMarkers({ files = [] }: HistoryTurn, atHand: FilesAtHand | undefined): string[] {
  return files.map(({ name, mediaId }) => {
    const came = `The file “${name}” came with this message`;
    if (atHand?.has(mediaId) === false) return `[${came}. It is not at hand any more: it can be sent again.]`;
    return atHand?.get(mediaId) === 'left-out' ? `[${came}. ${LEFT_OUT}]` : `[${came}.]`;
  });
}

/** Tells the model about earlier images that are not sent again. */
function imageMarker(images: number): string[] {
  if (images <= 0) return [];
  return [images === 1 ? '[An image came with this message.]' : `[${images} images came with this message.]`];
}

/** A user's message, in order: the quote (images before text), then the user's own text and images. */
function writeSaid({ text, images, quote, thread, speakerTag, files = [] }: CurrentQuestion): PromptMessage {
  const quoted = [...quotedParts(images), ...(quote === undefined ? [] : [textPart(quote)])];
  const said = saidParts(text, images);
  const content = contentOf([
    ...files.flatMap((file) => [...labelFile(file, filePieces(file)), textPart('\n\n')]),
    ...(thread === undefined ? [] : [...labelThread(thread), textPart('\n\n')]),
    ...(quoted.length > 0 ? [...labelQuote(quoted), textPart('\n\n')] : []),
    ...(speakerTag === undefined ? said : labelSpeaker(speakerTag, said)),
  ]);
  const isBlank = typeof content === 'string' && content.trim() === '';
  // Some engines reject a message without content.
  return { role: 'user', content: isBlank ? NO_TEXT : content };
}

function filePieces({ text, pictures, isCut }: PromptFile): PromptPart[] {
  const shown = pictures.flatMap(({ label, dataUrl }): PromptPart[] => [
    textPart(`\n\n[${label}, as a picture]\n`),
    { type: 'image', dataUrl },
  ]);
  return [textPart(text), ...shown, textPart(isCut ? `\n\n${FILE_GOES_ON}` : '')];
}

function hasQuotedImages({ current, earlierImages }: PromptOptions): boolean {
  return [current.images, ...(earlierImages?.values() ?? [])].some((images) => quotedParts(images).length > 0);
}

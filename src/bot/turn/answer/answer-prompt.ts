import { localize, type Language } from '../../../shared/text/texts.ts';
import type { GroupScope } from '../../domain/conversation.ts';
import { THREAD_TEXTS } from '../../i18n/thread-texts.ts';
import type { ToolDeclaration } from '../../model/chat-types.ts';
import {
  buildPrompt,
  type BuiltPrompt,
  type CurrentQuestion,
  type EarlierImages,
  type FilesAtHand,
  type PromptFile,
} from '../conversation/build-prompt.ts';
import { estimateTokens, IMAGE_TOKENS } from '../conversation/estimate-tokens.ts';
import { fitThread, type FittedThread, type ThreadEntry } from '../conversation/fit-thread.ts';
import type { PromptSizes } from '../conversation/prompt-sizes.ts';
import { fitAttachments } from '../files/fit-attachments.ts';
import type { SharedFile, StoredFile } from '../files/kept-file.ts';
import { rankChunks } from '../files/rank-chunks.ts';
import { cutNote } from '../files/tell-files.ts';
import { MAX_IMAGES } from '../images/fetch-images.ts';
import type { EarlierConversation } from '../prompt/earlier-conversation.ts';
import { declarationTokens } from './count-tokens.ts';
import type { PromptSize } from './retry-on-context-length.ts';

/** Contents and limits of prompts. */
export interface PromptRules {
  systemPrompt: string;
  /** Maximum tokens of the prompt without files, if the model allows that many. */
  budgetTokens: number;
  /** Maximum tokens with files, if it is less than the model allows. */
  maxTokens?: number;
  sizes: PromptSizes;
  groupScope: GroupScope;
  /** Time zone of the date in the prompt and of the days that usage is counted for. */
  timeZone: string;
  /** Time without a question after which a conversation ends. Milliseconds; 0 for never. */
  idleMs: number;
}

/** Everything gathered for a question. The prompt contains as much of it as fits. */
export interface PromptMaterial {
  earlier: EarlierConversation;
  current: CurrentQuestion;
  /** The thread of the question before it; absent outside threads, and for a thread that could not be read. */
  thread?: readonly ThreadEntry[];
  earlierImages: EarlierImages;
  /** Files of the thread, then of earlier questions, then those of this one. */
  files: readonly (StoredFile | SharedFile)[];
  /** The files of earlier questions that are still available. */
  filesAtHand: FilesAtHand;
}

/** The prompt apart from the gathered material. */
export interface PromptFrame {
  systemPrompt: string;
  chatKind: 'private' | 'group';
  nowMs: number;
  timeZone: string;
  language: Language;
  tools: readonly ToolDeclaration[];
  /** Whether the model accepts images. */
  seesImages: boolean;
  /** Maximum tokens of the prompt, unless the service has shown a lower limit. */
  maxTokens: number;
  /** Maximum tokens without the files. */
  conversationTokens: number;
}

/** One version of the prompt. */
export interface FittedPrompt {
  prompt: BuiltPrompt;
  /** Notes that state which part of each shortened file and of a long thread the prompt contains. */
  cutNotes: string[];
}

/** Minimum share of the prompt for the contents of files. They get more if the model's context is larger than a conversation. */
const FILES_SHARE = 0.6;
/** Share of the prompt for the thread of the question, and next to files. */
const THREAD_SHARE = 0.5;
const THREAD_SHARE_BESIDE_FILES = 0.25;

/** Prepares the prompt of a question. @returns a function that builds the version for a size */
export async function preparePrompt(
  { earlier, current, thread, earlierImages, files, filesAtHand }: PromptMaterial,
  frame: PromptFrame,
): Promise<(size: PromptSize) => FittedPrompt> {
  const { tools, language, seesImages, maxTokens, conversationTokens } = frame;
  const shown = seesImages ? files : files.map((file) => ({ ...file, pictures: [] }));
  const chars = shown.reduce((sum, { parts }) => parts.reduce((all, { text }) => all + text.length, sum), 0);
  // Files that certainly fit need no ranking: a character is at most about one token.
  const mayBeCut = chars > filesRoom(maxTokens, conversationTokens) / 2;
  const pieces = mayBeCut ? await rankChunks(shown, `${current.text}\n${current.quote ?? ''}`) : [];
  const maxPictures = MAX_IMAGES - current.images.length;
  return ({ budgetTokens, tokenFactor, isFresh }) => {
    const roomTokens = filesRoom(budgetTokens, conversationTokens);
    const fit = fitAttachments(shown, { roomTokens, tokenFactor, maxPictures, pieces, language });
    const maxPromptTokens = Math.min(budgetTokens, conversationTokens + filesTokens(fit.files, tokenFactor));
    const threadShare = shown.length > 0 ? THREAD_SHARE_BESIDE_FILES : THREAD_SHARE;
    const fitted = thread && fitThread(thread, Math.min(budgetTokens, conversationTokens) * threadShare, tokenFactor);
    const prompt = buildPrompt({
      systemPrompt: frame.systemPrompt,
      chatKind: frame.chatKind,
      nowMs: frame.nowMs,
      timeZone: frame.timeZone,
      earlierImages,
      filesAtHand,
      tokenFactor,
      current: { ...current, files: fit.files, thread: fitted?.text === '' ? undefined : fitted?.text },
      budgetTokens: maxPromptTokens - declarationTokens(tools, tokenFactor),
      turns: isFresh ? [] : earlier.turns,
      summary: isFresh ? undefined : earlier.summary?.text,
    });
    const cutNotes = fit.cut.map((file) => cutNote(file, language));
    return { prompt, cutNotes: [...cutNotes, ...(fitted ? threadNotes(fitted, language) : [])] };
  };
}

function filesRoom(budgetTokens: number, conversationTokens: number): number {
  return Math.max(budgetTokens * FILES_SHARE, budgetTokens - conversationTokens);
}

function filesTokens(files: readonly PromptFile[], tokenFactor: number): number {
  return files.reduce(
    (sum, { text, pictures }) => sum + estimateTokens(text, tokenFactor) + pictures.length * IMAGE_TOKENS,
    0,
  );
}

function threadNotes({ shownCount: shown, missingCount: missing }: FittedThread, language: Language): string[] {
  if (missing === 0) return [];
  if (missing === undefined) return [localize(THREAD_TEXTS.cutUnknown, language, { shown })];
  return [localize(THREAD_TEXTS.cut, language, { shown, missing })];
}

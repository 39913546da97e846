import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { localize } from '../../../shared/text/texts.ts';
import { FILE_TEXTS } from '../../i18n/file-texts.ts';
import { localizeForChat, type Voice } from '../../i18n/say-typed.ts';
import { THREAD_TEXTS } from '../../i18n/thread-texts.ts';
import type { ThreadReading } from '../../platforms/platform.ts';
import type { StoredFile } from '../files/kept-file.ts';
import { readEarlierFiles } from '../files/read-files.ts';
import type { ImageScene } from '../images/fetch-images.ts';
import { readImages } from '../images/read-images.ts';
import type { Question } from '../prompt/question.ts';
import { earlierConversation } from '../prompt/earlier-conversation.ts';
import {
  languageOfThread,
  leaveOutListed,
  seeThread,
  threadEntries,
  type SeenEntry,
} from '../prompt/thread-context.ts';
import { readThreadFiles } from '../prompt/thread-files.ts';
import { speakerTagOf } from '../prompt/turn-history.ts';
import type { AdmittedContext } from '../turn-context.ts';
import { BlockedPromptError } from '../moderation/moderated-answer.ts';
import type { Moderation } from '../moderation/moderation.ts';
import type { PromptMaterial, PromptRules } from './answer-prompt.ts';

export interface MaterialOptions {
  keyRing: KeyRing;
  prompt: PromptRules;
  /** Absent if nothing is moderated. */
  moderation?: Moderation;
}

/** What the material of a question is read from. */
export interface MaterialSources {
  scene: ImageScene;
  voice: Voice;
  /** Whether an allowed model accepts images. */
  seesImages: boolean;
  files: readonly StoredFile[];
  thread: Promise<ThreadReading | undefined>;
}

/** Gathers what the prompt may contain. @throws ImageRefusedError, BlockedPromptError */
export async function gatherMaterial(
  options: MaterialOptions,
  context: AdmittedContext,
  { scene, voice, seesImages, files, thread }: MaterialSources,
  showStatus: (status: string) => void,
): Promise<{ material: PromptMaterial; threadNotes: readonly string[] }> {
  const { question, newest, controls } = context;
  const { groupScope, idleMs, timeZone } = options.prompt;
  const earlier = earlierConversation({ keyRing: options.keyRing, groupScope, idleMs }, context);
  const { turns } = earlier;
  const { images, earlierImages } = await readImages(
    scene,
    { own: question.images, turns, seesImages },
    controls.signal,
  );
  const speakerTag = newest.chat.kind === 'group' ? speakerTagOf(newest) : undefined;
  const asked = `${question.text}\n${question.quotedText ?? ''}`;
  const earlierFiles = await readEarlierFiles(scene, { turns, speakerTag, own: files, question: asked });
  const reading = await thread;
  const isBare =
    question.text === '' && images.length === 0 && question.quotedText === undefined && reading !== undefined;
  const bareText = localize(THREAD_TEXTS.bareQuestion, languageOfThread(reading) ?? question.language);
  const { language } = question;
  const { seen, leftOut } = await readableThread(options, context, { reading, earlier });
  // A bare mention asks about the thread.
  if (isBare && leftOut > 0 && !seen.some(({ kind }) => kind === 'message')) throw new BlockedPromptError('blocked');
  const shared = await readThreadFiles(
    scene,
    {
      seen,
      newest,
      question: asked.trim(),
      language,
      seesImages,
      known: {
        files: [...earlierFiles.files, ...files],
        turns,
        earlierImages,
        filesAtHand: earlierFiles.atHand,
      },
      showStatus: () => showStatus(localizeForChat(FILE_TEXTS.reading, voice)),
    },
    controls.signal,
  );
  const material = {
    earlier,
    current: { text: isBare ? bareText : question.text, images, quote: question.quotedText, speakerTag },
    thread:
      reading?.kind === 'read'
        ? threadEntries(seen, { names: reading.names, shown: shared.shown, timeZone, language })
        : undefined,
    earlierImages,
    files: [...shared.files, ...earlierFiles.files, ...files],
    filesAtHand: shared.filesAtHand,
  };
  await judgeThread(options, context, material);
  const listedNote = leftOut > 0 ? [localizeForChat(THREAD_TEXTS.listed, voice)] : [];
  return { material, threadNotes: [...listedNote, ...shared.notes] };
}

/** The thread without messages that must not reach a model, and how many those are. */
async function readableThread(
  { moderation }: Pick<MaterialOptions, 'moderation'>,
  context: AdmittedContext,
  { reading, earlier }: { reading: ThreadReading | undefined; earlier: PromptMaterial['earlier'] },
): Promise<{ seen: readonly SeenEntry[]; leftOut: number }> {
  const all = reading?.kind === 'read' ? seeThread(reading, context, earlier) : [];
  if (!moderation) return { seen: all, leftOut: 0 };
  const seen = await leaveOutListed(all, (text) => moderation.hasWord(text, context.controls.signal));
  return { seen, leftOut: all.length - seen.length };
}

/** Checks what a thread brings into the prompt, because its messages may be the question. @throws BlockedPromptError */
async function judgeThread(
  { moderation }: Pick<MaterialOptions, 'moderation'>,
  { turn, controls }: AdmittedContext,
  { thread = [], files }: PromptMaterial,
): Promise<void> {
  const said = thread.flatMap((entry) => (entry.kind === 'message' ? [entry.text] : []));
  const shared = files.filter((file) => 'from' in file);
  const text = personsWords({ text: said.join('\n'), quotedText: undefined }, shared);
  const verdict = text === '' ? undefined : await moderation?.judgePrompt(text, turn.turnId, controls.signal);
  if (verdict !== undefined && verdict !== 'allowed') throw new BlockedPromptError(verdict);
}

/** What a person brings into the prompt: the words of the question, of quotes and of files. */
export function personsWords(
  { text, quotedText = '' }: Pick<Question, 'text' | 'quotedText'>,
  files: readonly StoredFile[],
): string {
  const ofFiles = files.flatMap(({ name, parts }) => [name, ...parts.map((part) => part.text)]);
  return [text, quotedText, ...ofFiles].join('\n').trim();
}

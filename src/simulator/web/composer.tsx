import type { TargetedKeyboardEvent } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ConversationView, MessageView } from '../api.ts';
import { applyCompletion, type CompletionOption } from './completion.ts';
import { COMPLETION_LIST_ID, CompletionList, completionOptionId } from './completion-list.tsx';
import { AttachmentTray, ComposerTools, QuoteTray } from './composer-parts.tsx';
import { focusComposerFirst, writeWhereKeysGo } from './focus-composer.ts';
import { usePage } from './page-context.ts';
import { fixedName } from './page-texts.ts';
import { useAttachments, type ReadyAttachment } from './use-attachments.ts';
import { useCompletion } from './use-completion.ts';

export interface ComposerProps {
  conversation: ConversationView;
  /** The writer's newest message here, which ArrowUp in the empty box recalls. */
  lastOwnText: string;
  quoted: MessageView | undefined;
  onUnquote(): void;
  onSend(text: string, attached: ReadyAttachment[]): void;
  /** Called with images dropped on the conversation; set by the composer. */
  acceptDrops(take: (files: readonly File[]) => void): void;
}

/** The text box with its lists and buttons. Must be remounted for another person or conversation. */
export function Composer(props: ComposerProps) {
  const { conversation } = props;
  const { person, drafts, say, bootstrap, language } = usePage();
  const [text, setText] = useState(() => drafts.read(person.id, conversation.id));
  const [caret, setCaret] = useState(text.length);
  const box = useRef<HTMLTextAreaElement>(null);
  // WeCom sends files to the bot in private chats, and in groups only quoted files.
  const mustQuoteFiles = bootstrap.protocol === 'wecom' && conversation.kind === 'group';
  const images = useAttachments(`${person.id} ${conversation.id}`, mustQuoteFiles);
  const list = useCompletion(text, caret, conversation);
  props.acceptDrops(images.add);
  useGrowth(box, text);
  const placeCaret = useCaret(box, text);
  useKeys();

  const write = (next: string, nextCaret: number) => {
    setText(next);
    setCaret(nextCaret);
    drafts.write(person.id, conversation.id, next);
  };
  const ready = images.attachments.filter((one): one is ReadyAttachment => one.upload !== undefined);
  const canSend = (text.trim() !== '' || ready.length > 0) && ready.length === images.attachments.length;
  const send = (sent = text) => {
    if (!canSend) return;
    props.onSend(sent.trim(), ready);
    write('', 0);
    images.clear();
    box.current?.focus();
  };
  const pick = (option: CompletionOption) => {
    if (list.completion === undefined) return;
    const picked = applyCompletion(text, caret, list.completion, option);
    write(picked.text, picked.caret);
    placeCaret(picked.caret);
  };
  const enter = (option: CompletionOption) => {
    if (list.completion?.isSentByEnter === true) send(applyCompletion(text, caret, list.completion, option).text);
    else pick(option);
  };
  const recall = () => {
    if (text !== '' || props.lastOwnText === '') return false;
    write(props.lastOwnText, props.lastOwnText.length);
    placeCaret(props.lastOwnText.length);
    return true;
  };
  const insert = (mark: string) => {
    const at = box.current?.selectionStart ?? text.length;
    write(text.slice(0, at) + mark + text.slice(at), at + mark.length);
    placeCaret(at + mark.length);
  };
  const name = conversation.name || bootstrap.botName;
  const hasOptions = (list.completion?.options.length ?? 0) > 0;
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {list.completion && (
        <CompletionList completion={list.completion} chosen={list.chosen} onChoose={list.choose} onPick={pick} />
      )}
      {props.quoted && <QuoteTray message={props.quoted} onRemove={props.onUnquote} />}
      <AttachmentTray attachments={images.attachments} onRemove={images.remove} />
      <textarea
        ref={box}
        rows={1}
        dir="auto"
        {...fixedName('message', language)}
        aria-autocomplete="list"
        aria-controls={hasOptions ? COMPLETION_LIST_ID : undefined}
        aria-activedescendant={hasOptions ? completionOptionId(list.chosen) : undefined}
        placeholder={say(conversation.kind === 'group' ? 'writeToGroup' : 'writeTo', { name })}
        value={text}
        onInput={(event) => write(event.currentTarget.value, event.currentTarget.selectionStart)}
        onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
        onKeyDown={(event) => answerKey(event, { list, pick, enter, send, recall })}
        onPaste={(event) => {
          const files = [...(event.clipboardData?.files ?? [])];
          if (files.length === 0) return;
          event.preventDefault();
          images.add(files);
        }}
      />
      <ComposerTools
        inGroup={conversation.kind === 'group'}
        canSend={canSend}
        onImages={images.add}
        onMention={() => insert('@')}
        onCommand={() => write('/', 1)}
        onWrite={() => box.current?.focus()}
      />
    </form>
  );
}

interface KeyTargets {
  list: ReturnType<typeof useCompletion>;
  pick(option: CompletionOption): void;
  /** Enter on an entry: inserts it, and sends it where `isSentByEnter` says so. */
  enter(option: CompletionOption): void;
  send(): void;
  /** @returns whether the last message was recalled */
  recall(): boolean;
}

/**
 * Enter sends and Shift+Enter inserts a line break. While an input method is composing, all keys belong to it (229 in older
 * browsers).
 */
function answerKey(event: TargetedKeyboardEvent<HTMLTextAreaElement>, targets: KeyTargets): void {
  const { list, pick, enter, send, recall } = targets;
  // Safari ends the composition before it reports the Enter that ended it; only the deprecated key code reveals that.
  // oxlint-disable-next-line typescript/no-deprecated
  if (event.isComposing || event.keyCode === 229) return;
  const options = list.completion?.options;
  if (options !== undefined && options.length > 0) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const option = options[list.chosen] as CompletionOption;
    if (step !== undefined) list.choose((list.chosen + step + options.length) % options.length);
    else if (event.key === 'Escape') list.dismiss();
    else if (event.key === 'Enter' && !event.shiftKey) enter(option);
    else if (event.key === 'Tab') pick(option);
    else return;
    event.preventDefault();
  } else if (event.key === 'Enter' && !event.shiftKey) {
    event.preventDefault();
    send();
  } else if (event.key === 'ArrowUp' && recall()) {
    event.preventDefault();
  }
}

/** The box is focused on mount, and typing anywhere focuses it. */
function useKeys(): void {
  useEffect(() => {
    focusComposerFirst();
    document.addEventListener('keydown', writeWhereKeysGo);
    return () => document.removeEventListener('keydown', writeWhereKeysGo);
  }, []);
}

/** Resizes the box to its text; the style sheet limits it to six lines. */
function useGrowth(box: { current: HTMLTextAreaElement | null }, text: string): void {
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    element.style.height = 'auto';
    element.style.height = `${element.scrollHeight}px`;
  }, [box, text]);
}

/**
 * Schedules a caret position for the text that was just set. It is applied in the same task, so that a key typed right after
 * a completion is not inserted at the wrong place.
 */
function useCaret(box: { current: HTMLTextAreaElement | null }, text: string): (caret: number) => void {
  const wanted = useRef<number | undefined>(undefined);
  useLayoutEffect(() => {
    if (wanted.current === undefined) return;
    box.current?.focus();
    box.current?.setSelectionRange(wanted.current, wanted.current);
    wanted.current = undefined;
  }, [box, text]);
  return (caret) => {
    wanted.current = caret;
  };
}

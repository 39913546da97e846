import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { ConversationView, MessageView } from '../api.ts';
import { stopText } from './asker.ts';
import { Avatar } from './avatar.tsx';
import { Composer } from './composer.tsx';
import { focusComposer } from './focus-composer.ts';
import { Icon, IconButton } from './icon.tsx';
import { rowKeyOf, type LoggedMessage } from './message-log.ts';
import { quotedWords } from './message-files.tsx';
import { MessageList } from './message-list.tsx';
import type { PageState } from './page-state.ts';
import { usePage } from './page-context.ts';
import type { PageText } from './page-texts.ts';
import { DeleteDialog, ReasonDialog } from './small-dialog.tsx';
import { useImageDrop } from './use-image-drop.ts';
import type { ReadyAttachment } from './use-attachments.ts';
import type { SessionActions } from './use-session.ts';

interface PaneProps {
  conversation: ConversationView;
  state: PageState;
  actions: SessionActions;
  onBack(): void;
}

/** The open conversation. Must be remounted for another conversation. */
export function ConversationPane({ conversation, state, actions, onBack }: PaneProps) {
  const { bootstrap, person, language, say } = usePage();
  const [quoted, setQuoted] = useState<MessageView | undefined>(undefined);
  const [asked, setAsked] = useState<{ what: 'reasons' | 'delete'; message: MessageView } | undefined>(undefined);
  const [edited, setEdited] = useState<LoggedMessage | undefined>(undefined);
  const [unreadAtOpen] = useState(conversation.unread);
  const takeFiles = useRef<(files: readonly File[]) => void>(() => undefined);
  const drop = useImageDrop((files) => takeFiles.current(files));
  const log = state.logs[conversation.id];
  const lastOwnText = log?.findLast(({ sender, text }) => sender === person.id && text !== '')?.text ?? '';

  useEffect(() => actions.load(conversation.id), [actions, conversation.id]);
  useReadMark(conversation, actions);

  const send = useCallback(
    (text: string, attached: readonly ReadyAttachment[] = []) => {
      const images = attached.filter(({ fileBytes }) => fileBytes === undefined);
      const files = attached.filter(({ fileBytes }) => fileBytes !== undefined);
      // In WeCom a file is a separate message, and the question about it is the next one.
      const isApart = bootstrap.protocol === 'wecom';
      const chips = files.map(({ name, fileBytes = 0 }) => ({ name, sizeBytes: fileBytes }));
      const ids = files.map(({ upload }) => upload.id);
      const senderName = person.name;
      let behind: Promise<void> | undefined;
      for (const [index, id] of (isApart ? ids : []).entries()) {
        const shown = { senderName, images: [], files: chips.slice(index, index + 1) };
        behind = actions.send(conversation.id, { text: '', images: [], files: [id] }, shown, behind);
      }
      if (isApart && text === '' && images.length === 0 && files.length > 0) return;
      const isQuote = quoted !== undefined && bootstrap.protocol === 'wecom';
      void actions.send(
        conversation.id,
        {
          text,
          images: images.map(({ upload }) => upload.id),
          files: isApart || ids.length === 0 ? undefined : ids,
          quoteMessageId: quoted?.id,
        },
        {
          senderName,
          images: images.map(({ upload, name }) => ({ url: upload.url ?? '', alt: name })),
          files: isApart || chips.length === 0 ? undefined : chips,
          quote: isQuote ? { senderName: quoted.senderName, text: quotedWords(quoted) } : undefined,
        },
        behind,
      );
      setQuoted(undefined);
    },
    [actions, bootstrap, conversation.id, person, quoted],
  );

  // Focuses the row of the confirmation again, and with it its tools.
  const focusRow = (message: LoggedMessage) =>
    document.querySelector<HTMLElement>(`li[data-row-key="${CSS.escape(rowKeyOf(message))}"]`)?.focus();
  const close = () => {
    if (asked) focusRow(asked.message);
    setAsked(undefined);
  };
  const leaveEdit = () => {
    if (edited) focusRow(edited);
    setEdited(undefined);
  };
  return (
    <main class={`pane ${drop.over ? 'drop-over' : ''}`} data-drop-hint={say('dropHere')} {...drop.handlers}>
      <PaneHead conversation={conversation} onBack={onBack} />
      <StateBanner state={state} />
      {log ? (
        <MessageList
          conversation={conversation}
          log={log}
          unreadAtOpen={unreadAtOpen}
          onAsk={send}
          status={state.statuses[conversation.id] ?? ''}
          onStop={(message) =>
            bootstrap.protocol === 'slack'
              ? actions.stop(message)
              : send(stopText(conversation.kind, bootstrap.botName, language))
          }
          onQuote={(message) => {
            setQuoted(message);
            focusComposer();
          }}
          onRate={(message, rating) => {
            actions.rate(message, rating);
            if (rating === 'bad') setAsked({ what: 'reasons', message });
          }}
          onPress={actions.press}
          onEdit={setEdited}
          onDelete={(message) => setAsked({ what: 'delete', message })}
          editing={
            edited && {
              rowKey: rowKeyOf(edited),
              save: (text) => actions.edit(edited, text),
              leave: leaveEdit,
            }
          }
          onSendAgain={actions.sendAgain}
          hasEarlier={state.hasEarlier[conversation.id] ?? false}
          onEarlier={(beforeId) => actions.loadEarlier(conversation.id, beforeId)}
        />
      ) : (
        <LoadState failed={state.unloaded.includes(conversation.id)} onRetry={() => actions.load(conversation.id)} />
      )}
      <Composer
        conversation={conversation}
        lastOwnText={lastOwnText}
        quoted={quoted}
        onUnquote={() => setQuoted(undefined)}
        onSend={send}
        acceptDrops={(take) => {
          takeFiles.current = take;
        }}
      />
      {asked?.what === 'reasons' && (
        <ReasonDialog
          onSend={(reasons, words) =>
            actions.rate(asked.message, 'bad', { reasons, words: words === '' ? undefined : words })
          }
          onClose={close}
        />
      )}
      {asked?.what === 'delete' && <DeleteDialog onDelete={() => actions.remove(asked.message)} onClose={close} />}
    </main>
  );
}

function PaneHead({ conversation, onBack }: { conversation: ConversationView; onBack(): void }) {
  const { bootstrap, person, say } = usePage();
  const isGroup = conversation.kind === 'group';
  const names = [
    ...conversation.members.map(({ id, name }) => (id === person.id ? say('you') : name)),
    bootstrap.botName,
  ];
  return (
    <header class="pane-head">
      <IconButton icon="back" label={say('back')} class="back" onPress={onBack} />
      <Avatar name={conversation.name} kind={isGroup ? 'group' : 'bot'} />
      <div class="pane-words">
        <h1>{conversation.name || bootstrap.botName}</h1>
        <p>
          {isGroup ? say('members', { count: names.length, names: names.join(say('namesGap')) }) : say('privateHint')}
        </p>
      </div>
    </header>
  );
}

/** Reports what is unreachable; disappears when it is reachable again. */
function StateBanner({ state }: { state: PageState }) {
  const { bootstrap, say } = usePage();
  const text = bannerText(state);
  return (
    <div class="banner-place" role="status">
      {text !== undefined && (
        <div class="banner">
          <Icon name="alert" />
          <span>{say(text, { bot: bootstrap.botName })}</span>
        </div>
      )}
    </div>
  );
}

function bannerText({ stop, connected, botReachable }: PageState): PageText | undefined {
  if (stop !== undefined) return stop === 'over' ? 'stopOver' : 'stopEnding';
  if (!connected) return 'reconnecting';
  return botReachable ? undefined : 'botAway';
}

function LoadState({ failed, onRetry }: { failed: boolean; onRetry(): void }) {
  const { say } = usePage();
  return (
    <div class="load-state">
      <p>{failed ? say('loadFailed') : say('loading')}</p>
      {failed && (
        <button type="button" class="text-button" onClick={onRetry}>
          {say('tryAgain')}
        </button>
      )}
    </div>
  );
}

/**
 * Opening a conversation marks it as read (and notifies a private chat's bot), and so does an incoming message while it is
 * visible.
 */
function useReadMark(conversation: ConversationView, actions: SessionActions): void {
  const { id, unread } = conversation;
  useEffect(() => actions.read(id), [actions, id]);
  useEffect(() => {
    const mark = () => {
      if (unread > 0 && document.visibilityState === 'visible') actions.read(id);
    };
    mark();
    document.addEventListener('visibilitychange', mark);
    return () => document.removeEventListener('visibilitychange', mark);
  }, [id, unread, actions]);
}

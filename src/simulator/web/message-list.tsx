import { useMemo, useState } from 'preact/hooks';
import { MINUTE_MS } from '../../shared/clock.ts';
import type { ConversationView, MessageView } from '../api.ts';
import type { Rating } from './api-client.ts';
import { askerOf, BOT_SENDER, SYSTEM_SENDER, waitingQuestion } from './asker.ts';
import { EarlierButton } from './earlier-button.tsx';
import { FirstRun } from './first-run.tsx';
import { Icon } from './icon.tsx';
import { waitsForSignIn } from './invitation.ts';
import { goByArrows } from './list-keys.ts';
import { groupMessages, splitForDisplay } from './message-groups.ts';
import { rowKeyOf, type LoggedMessage, type MessageLog } from './message-log.ts';
import type { PressButton } from './message-buttons.tsx';
import { MessageRow, NoteLine, type MessageRowProps } from './message-row.tsx';
import { usePage } from './page-context.ts';
import { useTextClicks } from './text-clicks.ts';
import { fixedName } from './page-texts.ts';
import { dayKeyOf, dayLabel } from './times.ts';
import { useAnnounced } from './use-announced.ts';
import { useNow } from './use-now.ts';
import { useStickToBottom } from './use-stick-to-bottom.ts';
import { useUnreadMark } from './use-unread-mark.ts';

export interface MessageListProps {
  conversation: ConversationView;
  log: MessageLog;
  /** Number of unread messages when the conversation was opened. */
  unreadAtOpen: number;
  onAsk(text: string): void;
  /** The bot's current activity; empty if there is none. */
  status: string;
  onStop(message: LoggedMessage): void;
  onQuote(message: MessageView): void;
  onRate(message: MessageView, rating: Rating): void;
  onSendAgain(message: LoggedMessage): void;
  onPress: PressButton;
  onEdit(message: LoggedMessage): void;
  onDelete(message: LoggedMessage): void;
  /** The own message in edit mode. */
  editing?: { rowKey: string } & NonNullable<MessageRowProps['editing']>;
  /** Whether there may be earlier messages. */
  hasEarlier: boolean;
  onEarlier(beforeId: string): Promise<void>;
}

/** The conversation's messages by day. The arrow keys move between messages; Tab reaches a message's tools. */
export function MessageList(props: MessageListProps) {
  const { log } = props;
  const { person, times, say, bootstrap, isInApp, language } = usePage();
  const [activeKey, setActiveKey] = useState<string | undefined>(undefined);
  const days = useMemo(() => groupMessages(log, (atMs) => dayKeyOf(atMs, times)), [log, times]);
  const rowKeys = useMemo(() => log.map(rowKeyOf), [log]);
  const threadFollowers = useMemo(() => new Set(log.filter(followsThread).map(rowKeyOf)), [log]);
  const nobodyWrote = !log.some((message) => message.sender !== BOT_SENDER && !isNote(message));
  const newestIsOwn = log.at(-1)?.sender === person.id;
  const stick = useStickToBottom({ rowKeys, newestIsOwn, isFirstRun: log.every(isNote) });
  const firstUnreadKey = useUnreadMark(props.unreadAtOpen, log, person.id);
  const onClick = useTextClicks();
  const announced = useAnnounced(log);
  const nowMs = useNow(MINUTE_MS);
  const newestMessage = log.findLast((message) => !isNote(message));
  const newestKey = newestMessage && rowKeyOf(newestMessage);
  const tabStopKey = activeKey !== undefined && rowKeys.includes(activeKey) ? activeKey : newestKey;
  const stopOf = (message: LoggedMessage) => {
    if (message.sender !== BOT_SENDER || message.state !== 'streaming' || waitsForSignIn(message, isInApp))
      return undefined;
    const asker = askerOf(message, log, props.conversation, bootstrap.botName);
    return asker === person.id ? () => props.onStop(message) : undefined;
  };
  const waiting = waitingQuestion(log, { person, bootstrap, conversation: props.conversation, nowMs });
  const rowOf = (message: LoggedMessage, startsRun: boolean) => {
    const rowKey = rowKeyOf(message);
    return (
      <MessageRow
        key={rowKey}
        {...props}
        message={message}
        startsRun={startsRun}
        inGroup={props.conversation.kind === 'group'}
        followsThread={threadFollowers.has(rowKey)}
        active={rowKey === activeKey}
        tabStop={rowKey === tabStopKey}
        onActive={setActiveKey}
        editing={props.editing?.rowKey === rowKey ? props.editing : undefined}
        onStop={message.buttons ? undefined : stopOf(message)}
      />
    );
  };
  return (
    <div class="messages-frame">
      <div
        class="messages"
        ref={stick.outer}
        onScroll={stick.onScroll}
        onWheel={stick.onWheel}
        onKeyDown={stick.onKeyDown}
      >
        <div class="messages-inner" ref={stick.inner}>
          {props.hasEarlier && <EarlierButton log={log} onEarlier={props.onEarlier} keepPlace={stick.keepPlace} />}
          {nobodyWrote && <FirstRun conversation={props.conversation} onAsk={props.onAsk} />}
          <div role="log" aria-live="off" {...fixedName('messages', language)} onClick={onClick} onKeyDown={goByArrows}>
            {days.map((day) => (
              <section key={day.key} class="day">
                <div class="day-mark">
                  <span>{dayLabel(day.atMs, nowMs, times)}</span>
                </div>
                {splitForDisplay(day.placed, { isNote, firstUnreadKey }).map((stretch) =>
                  stretch.kind === 'note' ? (
                    <NoteLine key={rowKeyOf(stretch.message)} message={stretch.message} onPress={props.onPress} />
                  ) : stretch.kind === 'unread' ? (
                    <UnreadMark key="unread" />
                  ) : (
                    <ol key={`list ${stretch.placed[0] && rowKeyOf(stretch.placed[0].message)}`}>
                      {stretch.placed.map(({ message, startsRun }) => rowOf(message, startsRun))}
                    </ol>
                  ),
                )}
              </section>
            ))}
          </div>
          {props.status !== '' && <StatusLine text={props.status} />}
          {(waiting ?? log.at(-1)?.state === 'sending') && props.status === '' && <WaitingDots />}
          {waiting && <WaitingStop onStop={() => props.onStop(waiting)} />}
        </div>
      </div>
      {/* Displayed by the style sheet, so that the page's text contains it only once. */}
      <div class="announced visually-hidden" aria-live="polite" data-said={announced} />
      {!stick.place.atBottom && (
        <button
          type="button"
          class={`to-latest ${stick.place.newCount > 0 ? 'has-new' : ''}`}
          aria-label={stick.place.newCount > 0 ? undefined : say('toLatest')}
          onClick={stick.toBottom}
        >
          <Icon name="down" />
          {stick.place.newCount > 0 && say('newMessages', { count: stick.place.newCount })}
        </button>
      )}
    </div>
  );
}

function isNote({ sender }: MessageView): boolean {
  return sender === SYSTEM_SENDER;
}

function followsThread({ thread }: LoggedMessage, index: number, log: MessageLog): boolean {
  const before = log[index - 1];
  return thread !== undefined && (before?.id === thread.rootId || before?.thread?.rootId === thread.rootId);
}

/** The bot's current activity, in its own words. */
function StatusLine({ text }: { text: string }) {
  return (
    <div class="row other status-line" role="status">
      <span class="avatar-gap" />
      <span>{text}</span>
    </div>
  );
}

/** Placeholder for the coming answer, from the moment that the bot announces one; the style sheet shows it after 300 ms. */
function WaitingDots() {
  return (
    <div class="row other waiting" aria-hidden="true">
      <span class="avatar-gap" />
      <div class="bubble">
        <span class="dots" />
      </div>
    </div>
  );
}

/** Stops an answer that has not begun. */
function WaitingStop({ onStop }: { onStop(): void }) {
  const { say } = usePage();
  const label = say('stop');
  return (
    <div class="row other waiting">
      <span class="avatar-gap" />
      <button type="button" class="stop-button" aria-label={label} data-label={label} onClick={onStop} />
    </div>
  );
}

/** Marker above the messages that arrived since the reader was last here. */
function UnreadMark() {
  const { say } = usePage();
  return (
    <div class="unread-mark" role="separator" aria-label={say('unreadBelow')}>
      <span aria-hidden="true">{say('unreadBelow')}</span>
    </div>
  );
}

import type { MessageView } from '../api.ts';
import { BOT_SENDER } from './asker.ts';
import { Avatar } from './avatar.tsx';
import { Card } from './card.tsx';
import { EditBox } from './edit-box.tsx';
import { Icon } from './icon.tsx';
import { waitsForSignIn } from './invitation.ts';
import { MessageButtons, type PressButton } from './message-buttons.tsx';
import { MessageFiles } from './message-files.tsx';
import { MessageImages } from './message-images.tsx';
import { plainPreview } from './markdown.ts';
import { rowKeyOf, type LoggedMessage } from './message-log.ts';
import { MarkdownText, PlainText } from './message-text.tsx';
import { MessageTools, type MessageToolActions } from './message-tools.tsx';
import { usePage, type PageContext } from './page-context.ts';
import { ThinkingBlock } from './thinking-block.tsx';
import { clockTime, fullTime } from './times.ts';

export interface MessageRowProps extends MessageToolActions {
  message: LoggedMessage;
  startsRun: boolean;
  inGroup: boolean;
  /** The previous message belongs to the same thread, or is its first message. */
  followsThread: boolean;
  /** Hovered or focused: its tools are shown. */
  active: boolean;
  /** The only row that Tab reaches; the arrow keys move on from there. */
  tabStop: boolean;
  /** Set for a growing answer that this person asked for. */
  onStop?: () => void;
  onPress: PressButton;
  /** Set while its writer edits it. */
  editing?: { save(text: string): Promise<boolean>; leave(): void };
  onActive(rowKey: string | undefined): void;
  onSendAgain(message: LoggedMessage): void;
}

/** One message. Names, times and states surround its text and are never inside it. */
export function MessageRow(props: MessageRowProps) {
  const { message } = props;
  const { person, times, bootstrap, isInApp } = usePage();
  const isBot = message.sender === BOT_SENDER;
  const isWaiting = waitsForSignIn(message, isInApp);
  const name = isBot ? bootstrap.botName : message.senderName;
  const isOwn = message.sender === person.id;
  const rowKey = rowKeyOf(message);
  return (
    <li
      class={`row ${isOwn ? 'own' : 'other'} ${props.startsRun ? 'starts-run' : ''}`}
      {...rowData(message)}
      tabIndex={props.tabStop ? 0 : -1}
      aria-busy={message.state === 'streaming' && !isWaiting}
      data-waiting={isWaiting || undefined}
      data-only-you={message.isOnlyForYou}
      onPointerEnter={() => props.onActive(rowKey)}
      onPointerLeave={() => props.onActive(undefined)}
      onFocusIn={() => props.onActive(rowKey)}
      onFocusOut={({ currentTarget, relatedTarget }) => {
        // A window that loses the focus keeps its active element; a row that loses it does not.
        const next = relatedTarget ?? document.activeElement;
        if (!(next instanceof Node && currentTarget.contains(next))) props.onActive(undefined);
      }}
    >
      {!isOwn &&
        (props.startsRun ? <Avatar name={name} kind={isBot ? 'bot' : 'person'} /> : <span class="avatar-gap" />)}
      <div class="row-body">
        <span
          class={`sender ${props.inGroup && props.startsRun && !isOwn ? '' : 'visually-hidden'}`}
          data-name={name}
        />
        {message.isOnlyForYou && <OnlyYou />}
        <div class="bubble-line">
          <Bubble message={message} followsThread={props.followsThread} editing={props.editing} />
          {!props.editing && (
            <span class="beside">
              <SendMark message={message} isOwn={isOwn} />
              {message.isEdited && !message.isDeleted && <EditedMark />}
              <span class="time" data-time={clockTime(message.atMs, times)} title={fullTime(message.atMs, times)} />
            </span>
          )}
          {props.active && !props.editing && !message.isDeleted && (
            <MessageTools
              message={message}
              onQuote={props.onQuote}
              onRate={props.onRate}
              onEdit={props.onEdit}
              onDelete={props.onDelete}
            />
          )}
        </div>
        <MessageButtons message={message} onPress={props.onPress} />
        <RowFoot {...props} />
      </div>
    </li>
  );
}

/** A system line, such as the welcome; not a message. */
export function NoteLine({ message, onPress }: { message: LoggedMessage; onPress: PressButton }) {
  return (
    <div class="row note" role="note">
      <div class="note-text">{message.card ? <Card card={message.card} /> : <MarkdownText text={message.text} />}</div>
      <MessageButtons message={message} onPress={onPress} />
    </div>
  );
}

/** Attributes for tests and scripts, and the key by which the list finds its rows. */
function rowData(message: LoggedMessage) {
  return {
    'data-message-id': message.id,
    'data-sender': message.sender,
    'data-state': message.state === 'streaming' ? 'streaming' : 'final',
    'data-delivery': message.state,
    'data-row-key': rowKeyOf(message),
  };
}

function Bubble({ message, followsThread, editing }: Pick<MessageRowProps, 'message' | 'followsThread' | 'editing'>) {
  const hasThinking = (message.thinking ?? '') !== '';
  const isWaiting = message.state === 'streaming' && message.text === '';
  if (editing) {
    return (
      <div class="bubble">
        <EditBox message={message} onSave={editing.save} onLeave={editing.leave} />
      </div>
    );
  }
  return (
    <div class="bubble">
      {message.thread && <ThreadMark thread={message.thread} followsIt={followsThread} />}
      {message.quote && (
        <blockquote class="quoted" dir="auto" data-name={message.quote.senderName}>
          {message.quote.text}
        </blockquote>
      )}
      {hasThinking && <ThinkingBlock message={message} />}
      {message.images.length > 0 && <MessageImages images={message.images} />}
      {(message.files ?? []).length > 0 && <MessageFiles files={message.files ?? []} />}
      <div class="text" data-part="text">
        {message.text !== '' && <MessageText message={message} />}
      </div>
      {message.card && !message.card.isAlone && <Card card={message.card} />}
      {isWaiting && !hasThinking && <span class="dots" aria-hidden="true" />}
      {message.note !== undefined && <AnswerNote note={message.note} />}
    </div>
  );
}

function MessageText({ message: { sender, text, card, isDeleted } }: { message: LoggedMessage }) {
  const { say } = usePage();
  if (isDeleted) return <span class="deleted">{say('deleted')}</span>;
  if (card?.isAlone) return <Card card={card} />;
  return sender === BOT_SENDER ? <MarkdownText text={text} /> : <PlainText text={text} />;
}

/** Only this person sees it. Displayed by the style sheet, like everything that is not part of the message. */
function OnlyYou() {
  const { say } = usePage();
  const label = say('onlyYou');
  return (
    <span class="only-you" role="note" aria-label={label} data-label={label}>
      <Icon name="onlyYou" />
    </span>
  );
}

function EditedMark() {
  const { say } = usePage();
  const label = say('edited');
  return <span class="edited" role="img" aria-label={label} data-label={label} />;
}

/** Remarks about an answer. Displayed by the style sheet, so that the list item's text is only the answer. */
function AnswerNote({ note }: { note: string }) {
  return <div class="answer-note" role="note" aria-label={note} data-label={note} />;
}

/** Shows that a message belongs to a thread, and to which one unless it is that of the message above. */
function ThreadMark({ thread, followsIt }: { thread: NonNullable<MessageView['thread']>; followsIt: boolean }) {
  const { say } = usePage();
  const words = { name: thread.senderName, text: plainPreview(thread.text) || say('image') };
  const label = followsIt ? say('inThread') : say('inThreadOf', words);
  return (
    <span class="in-thread" role="img" aria-label={label} data-label={label} title={say('inThreadOf', words)}>
      <Icon name="thread" />
    </span>
  );
}

function SendMark({ message, isOwn }: { message: LoggedMessage; isOwn: boolean }) {
  const { say } = usePage();
  if (!isOwn || (message.state !== 'sending' && message.state !== 'sent')) return null;
  const label = say(message.state);
  return (
    <span class={`send-mark ${message.state}`} role="img" aria-label={label} title={label}>
      {message.state === 'sent' && <Icon name="check" />}
    </span>
  );
}

/** Below the bubble: "Stop" of a growing answer, the given rating, or why a message was not sent. */
function RowFoot({ message, onStop, onSendAgain }: MessageRowProps) {
  const { say } = usePage();
  if (message.state === 'failed') {
    return (
      <div class="row-foot failed">
        <Icon name="alert" />
        <span>{failureText(message, say)}</span>
        <button type="button" class="text-button" onClick={() => onSendAgain(message)}>
          {say('sendAgain')}
        </button>
      </div>
    );
  }
  if (onStop) {
    const label = say('stop');
    return (
      <div class="row-foot">
        <button type="button" class="stop-button" aria-label={label} data-label={label} onClick={onStop} />
      </div>
    );
  }
  return message.rating ? <RatingMark rating={message.rating} /> : null;
}

function RatingMark({ rating }: { rating: NonNullable<MessageView['rating']> }) {
  const { say } = usePage();
  return (
    <div class="row-foot rating-mark" role="img" aria-label={say(rating)} title={say(rating)}>
      <Icon name={rating} />
    </div>
  );
}

/** Sentence that tells why a message was not sent. */
export function failureText(message: LoggedMessage, say: PageContext['say']): string {
  if (message.failureCode === 'rate_limited') return say('rateLimited');
  if (message.failureCode === 'too_large') return say('tooLarge');
  if (message.failureCode === 'unreachable') return say('messengerAway');
  return message.error ?? say('notSent');
}

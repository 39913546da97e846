import { useState } from 'preact/hooks';
import type { MessageView } from '../api.ts';
import type { Rating } from './api-client.ts';
import { IconButton } from './icon.tsx';
import { isLocalOnly, type LoggedMessage } from './message-log.ts';
import { usePage } from './page-context.ts';
import { COPIED_SHOWN_MS } from './text-clicks.ts';
import { clockTime } from './times.ts';

export interface MessageToolActions {
  onQuote(message: MessageView): void;
  onRate(message: MessageView, rating: Rating): void;
  onEdit(message: LoggedMessage): void;
  onDelete(message: LoggedMessage): void;
}

/** Actions for a message; rendered only while the row is hovered or focused. */
export function MessageTools({ message, ...actions }: { message: LoggedMessage } & MessageToolActions) {
  const { say, times, bootstrap } = usePage();
  const hasThreads = bootstrap.protocol === 'slack';
  return (
    <div class="tools" data-time={clockTime(message.atMs, times)}>
      <CopyButton text={message.text} label={say('copyMessage')} />
      {!isLocalOnly(message) && (
        <IconButton
          icon={hasThreads ? 'thread' : 'quote'}
          label={say(hasThreads ? 'replyInThread' : 'quoteMessage')}
          onPress={() => actions.onQuote(message)}
        />
      )}
      {message.canAmend && (
        <>
          <IconButton icon="edit" label={say('editMessage')} onPress={() => actions.onEdit(message)} />
          <IconButton icon="remove" label={say('deleteMessage')} onPress={() => actions.onDelete(message)} />
        </>
      )}
      {message.canRate && message.state === 'final' && (
        <>
          <RateButton message={message} rating="good" onRate={actions.onRate} />
          <RateButton message={message} rating="bad" onRate={actions.onRate} />
        </>
      )}
    </div>
  );
}

function RateButton(props: { message: MessageView; rating: 'good' | 'bad'; onRate: MessageToolActions['onRate'] }) {
  const { say } = usePage();
  const pressed = props.message.rating === props.rating;
  return (
    <IconButton
      icon={props.rating}
      label={say(props.rating)}
      pressed={pressed}
      onPress={() => props.onRate(props.message, pressed ? 'withdrawn' : props.rating)}
    />
  );
}

function CopyButton({ text, label }: { text: string; label: string }) {
  const { say, notify } = usePage();
  const [copied, setCopied] = useState(false);
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => {
        setCopied(true);
        setTimeout(() => setCopied(false), COPIED_SHOWN_MS);
      },
      () => notify(say('copyFailed')),
    );
  return (
    <>
      <span class="said" role="status" data-said={copied ? say('copied') : undefined} />
      <IconButton icon={copied ? 'check' : 'copy'} label={label} onPress={() => void copy()} />
    </>
  );
}

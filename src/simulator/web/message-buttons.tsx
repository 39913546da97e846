import { useRef, useState } from 'preact/hooks';
import type { ButtonView, MessageView } from '../api.ts';
import { Icon } from './icon.tsx';
import { isAllowedLink } from './links.ts';
import { usePage } from './page-context.ts';

/** Presses a button of a message. @returns whether the bot accepted it */
export type PressButton = (message: MessageView, buttonId: string) => Promise<boolean>;

/**
 * The bot's buttons below a message, row by row. Their labels are displayed by the style sheet, so that the list item's text
 * is only the message.
 */
export function MessageButtons({ message, onPress }: { message: MessageView; onPress: PressButton }) {
  const { say } = usePage();
  const [busyId, setBusyId] = useState<string | undefined>(undefined);
  const [failedId, setFailedId] = useState<string | undefined>(undefined);
  const isBusy = useRef(false);
  const rows = message.buttons ?? [];
  const press = async ({ id, isOff }: ButtonView) => {
    if (isBusy.current || isOff === true) return;
    isBusy.current = true;
    setBusyId(id);
    setFailedId(undefined);
    const isTaken = await onPress(message, id);
    isBusy.current = false;
    setBusyId(undefined);
    if (!isTaken) setFailedId(id);
  };
  if (rows.length === 0) return null;
  return (
    <div class="bot-buttons">
      {rows.map((row) => (
        <div key={row[0]?.id} class="bot-button-row" role="group" aria-label={say('botButtons')}>
          {row.map((button) => (
            <BotButton
              key={button.id}
              button={button}
              isBusy={button.id === busyId}
              onPress={() => void press(button)}
            />
          ))}
        </div>
      ))}
      <span class="press-failed" role="status" data-said={failedId === undefined ? undefined : say('pressFailed')} />
    </div>
  );
}

function BotButton({ button, isBusy, onPress }: { button: ButtonView; isBusy: boolean; onPress(): void }) {
  const { isInApp } = usePage();
  const { kind, label, style, url, isPressed = false, isOff } = button;
  const named = {
    'aria-label': label,
    'data-label': label,
    'data-button': button.id,
    title: kind === 'button' ? undefined : label,
  };
  if (url !== undefined && isAllowedLink(url)) {
    const way = isInApp(url) ? { 'data-in-app': true } : { target: '_blank' };
    return <a class="bot-button" href={url} rel="noopener noreferrer" onClick={onPress} {...named} {...way} />;
  }
  const isThumb = kind === 'good' || kind === 'bad';
  return (
    <button
      type="button"
      class={kind === 'button' ? `bot-button ${style ?? ''}` : 'icon-button bot-icon'}
      aria-pressed={isThumb ? isPressed : undefined}
      aria-busy={isBusy || undefined}
      aria-disabled={isOff}
      onClick={onPress}
      {...named}
    >
      {kind !== 'button' && <Icon name={kind} />}
    </button>
  );
}

import { useState } from 'preact/hooks';
import { SECOND_MS } from '../../shared/clock.ts';
import type { MessageView } from '../api.ts';
import { Icon } from './icon.tsx';
import { usePage } from './page-context.ts';
import { isThinking } from './thinking-clock.ts';
import { useNow } from './use-now.ts';

/**
 * The platform's thinking block, collapsed. The style sheet displays its label and newest line from attributes, and its text
 * is rendered only while it is open, so that the list item's text is only the answer.
 */
export function ThinkingBlock({ message }: { message: MessageView }) {
  const { say, thinking } = usePage();
  const [open, setOpen] = useState(false);
  const isActive = isThinking(message);
  const nowMs = useNow(SECOND_MS, isActive);
  const text = message.thinking ?? '';
  const seconds = thinking.seconds(message.id, nowMs);
  const label =
    seconds === undefined
      ? say(isActive ? 'thinking' : 'thought')
      : say(isActive ? 'thinkingFor' : 'thoughtFor', { seconds });
  const newestLine = text.trimEnd().split('\n').at(-1) ?? '';
  return (
    <details
      class="thinking"
      data-active={isActive}
      open={open}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary aria-label={label} data-label={label} data-newest={isActive && !open ? newestLine : undefined}>
        <Icon name="chevron" />
      </summary>
      {open && (
        <div class="thinking-text" dir="auto">
          {text}
        </div>
      )}
    </details>
  );
}

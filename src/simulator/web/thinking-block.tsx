import { useState } from 'preact/hooks';
import { SECOND_MS } from '../../shared/clock.ts';
import type { MessageView } from '../api.ts';
import { Icon } from './icon.tsx';
import { usePage } from './page-context.ts';
import { isThinking } from './thinking-clock.ts';
import { useNow } from './use-now.ts';

/**
 * The platform's thinking block, folded. Its label and its newest line are shown by the style sheet from attributes and its
 * text is on the page only while it is open: the text of the list item stays the answer's own.
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

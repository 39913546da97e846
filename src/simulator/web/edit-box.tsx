import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { MessageView } from '../api.ts';
import { usePage } from './page-context.ts';

interface EditBoxProps {
  message: MessageView;
  /** @returns whether it could be saved */
  onSave(text: string): Promise<boolean>;
  onLeave(): void;
}

/** An own message in edit mode: Enter saves, Escape cancels. */
export function EditBox({ message, onSave, onLeave }: EditBoxProps) {
  const { say, notify } = usePage();
  const box = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useState(message.text);
  useEffect(() => {
    box.current?.focus();
    box.current?.setSelectionRange(message.text.length, message.text.length);
  }, []);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    element.style.height = 'auto';
    element.style.height = `${element.scrollHeight + 2}px`; // its two borders
  }, [text]);
  const isEmpty = text.trim() === '' && message.images.length === 0;
  const save = async () => {
    if (isEmpty) return;
    if (text.trim() === message.text || (await onSave(text.trim()))) onLeave();
    else notify(say('notSaved'));
  };
  return (
    <form
      class="edit-box"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <textarea
        ref={box}
        rows={1}
        dir="auto"
        aria-label={say('editMessage')}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          // Keeps arrow keys from the message list, and Escape from the elements below.
          event.stopPropagation();
          if (event.key === 'Escape') onLeave();
          // As in the composer: only this key code reveals Safari's Enter that ends a composition.
          // oxlint-disable-next-line typescript/no-deprecated
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing || event.keyCode === 229) return;
          event.preventDefault();
          void save();
        }}
      />
      <div class="dialog-buttons">
        <button type="button" onClick={onLeave}>
          {say('cancel')}
        </button>
        <button type="submit" class="primary" aria-disabled={isEmpty}>
          {say('save')}
        </button>
      </div>
    </form>
  );
}

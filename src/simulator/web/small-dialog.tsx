import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { RatingReason } from '../api.ts';
import { usePage } from './page-context.ts';
import type { PageText } from './page-texts.ts';

interface SmallDialogProps {
  title: string;
  /** Label of the action; the button beside it cancels. */
  done: string;
  /** Label of the button that closes the dialog. Defaults to "Cancel". */
  leave?: string;
  isDangerous?: boolean;
  children?: ComponentChildren;
  onDone(): void;
  /** Called however the dialog ends. */
  onClose(): void;
}

/** A modal dialog. Escape closes it too. */
function SmallDialog({ title, done, leave, isDangerous = false, children, onDone, onClose }: SmallDialogProps) {
  const { say } = usePage();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="small-dialog" aria-labelledby="small-dialog-title" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onDone();
          dialog.current?.close();
        }}
      >
        <h2 id="small-dialog-title">{title}</h2>
        {children}
        <div class="dialog-buttons">
          <button type="button" onClick={() => dialog.current?.close()}>
            {leave ?? say('cancel')}
          </button>
          <button type="submit" class={isDangerous ? 'danger' : 'primary'}>
            {done}
          </button>
        </div>
      </form>
    </dialog>
  );
}

/** In the same order as in WeCom. */
const REASONS: readonly [RatingReason, PageText][] = [
  ['irrelevant', 'reasonIrrelevant'],
  ['incomplete', 'reasonIncomplete'],
  ['wrong', 'reasonWrong'],
  ['analysis', 'reasonAnalysis'],
];
const MAX_WORDS_CHARS = 500;

/** Asks for the reasons of a bad rating, which has been stored already. */
export function ReasonDialog(props: { onSend(reasons: RatingReason[], words: string): void; onClose(): void }) {
  const { say } = usePage();
  const [chosen, setChosen] = useState<readonly RatingReason[]>([]);
  const [words, setWords] = useState('');
  const toggle = (reason: RatingReason) =>
    setChosen(chosen.includes(reason) ? chosen.filter((one) => one !== reason) : [...chosen, reason]);
  const send = () => {
    if (chosen.length > 0 || words.trim() !== '') props.onSend([...chosen], words.trim());
  };
  return (
    <SmallDialog
      title={say('whyBad')}
      done={say('sendReasons')}
      leave={say('noReasons')}
      onDone={send}
      onClose={props.onClose}
    >
      <div class="reasons" role="group" aria-labelledby="small-dialog-title">
        {REASONS.map(([reason, text]) => (
          <label key={reason}>
            <input type="checkbox" checked={chosen.includes(reason)} onChange={() => toggle(reason)} />
            {say(text)}
          </label>
        ))}
      </div>
      <textarea
        rows={3}
        maxLength={MAX_WORDS_CHARS}
        aria-label={say('reasonWords')}
        placeholder={say('reasonWords')}
        value={words}
        onInput={(event) => setWords(event.currentTarget.value)}
      />
    </SmallDialog>
  );
}

export function DeleteDialog(props: { onDelete(): void; onClose(): void }) {
  const { say } = usePage();
  return (
    <SmallDialog
      title={say('deleteQuestion')}
      done={say('deleteMessage')}
      isDangerous
      onDone={props.onDelete}
      onClose={props.onClose}
    />
  );
}

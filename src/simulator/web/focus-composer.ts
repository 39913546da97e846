/** Puts the focus into the open conversation's text box; does nothing where none is shown. */
export function focusComposer(): void {
  document.querySelector<HTMLElement>('.composer textarea')?.focus();
}

/** Where a finger writes, the focus would open a keyboard over half of the screen. */
const WITH_KEYBOARD = '(hover: hover) and (pointer: fine)';

/** Puts the focus into the text box where people have a keyboard, and the focus is nowhere else. */
export function focusComposerFirst(): void {
  const { activeElement } = document;
  const isFree = activeElement === null || activeElement === document.body;
  if (isFree && matchMedia(WITH_KEYBOARD).matches) focusComposer();
}

/** What keeps its keys: what is written in or chosen with them, the in-app browser, and whatever asks for an answer first. */
const KEEPS_KEYS = 'input, textarea, select, [contenteditable], .in-app, dialog, [role="dialog"]';

/** A key that writes goes to the text box, wherever the focus is. Called before the browser carries the key out. */
export function writeWhereKeysGo(event: KeyboardEvent): void {
  const isWriting =
    [...event.key].length === 1 && event.key !== ' ' && !event.ctrlKey && !event.metaKey && !event.altKey;
  const target = event.target instanceof Element ? event.target : document.body;
  if (!isWriting || event.defaultPrevented || target.closest(KEEPS_KEYS) || document.querySelector('dialog[open]'))
    return;
  focusComposer();
}

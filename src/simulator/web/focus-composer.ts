/** Focuses the open conversation's text box, if one is shown. */
export function focusComposer(): void {
  document.querySelector<HTMLElement>('.composer textarea')?.focus();
}

/** On touch devices the focus would open a keyboard over half of the screen. */
const WITH_KEYBOARD = '(hover: hover) and (pointer: fine)';

/** Focuses the text box on devices with a keyboard, unless another element has the focus. */
export function focusComposerFirst(): void {
  const { activeElement } = document;
  const isFree = activeElement === null || activeElement === document.body;
  if (isFree && matchMedia(WITH_KEYBOARD).matches) focusComposer();
}

/** Elements that keep their keys: inputs and selects, the in-app browser, and open dialogs. */
const KEEPS_KEYS = 'input, textarea, select, [contenteditable], .in-app, dialog, [role="dialog"]';

/** Focuses the text box for a typed character, wherever the focus is. Called before the browser handles the key. */
export function writeWhereKeysGo(event: KeyboardEvent): void {
  const isWriting =
    [...event.key].length === 1 && event.key !== ' ' && !event.ctrlKey && !event.metaKey && !event.altKey;
  const target = event.target instanceof Element ? event.target : document.body;
  if (!isWriting || event.defaultPrevented || target.closest(KEEPS_KEYS) || document.querySelector('dialog[open]'))
    return;
  focusComposer();
}

import { focusComposerFirst } from './focus-composer.ts';

/** What takes the focus when a control is gone, by the part of the page in which it was: the first that is there and seen. */
const STAND_INS: readonly [part: string, ...standIns: string[]][] = [
  ['.person-picker', '.person-picker select'],
  ['.tour', '.tour [aria-current="step"]', '.tour h2', '.ribbon [aria-expanded]'],
  ['.earlier', 'li[data-row-key]'],
  ['.model-dialog', '.model-dialog .primary'],
  ['.pane-head', '.conversation[aria-current]', '.conversation'],
];

/**
 * A control that is pressed may leave the page, or may not be pressed again: the focus would be nowhere then, and the next Tab would
 * begin at the top. It goes to what stands nearest instead, or to the text box, where any key writes.
 * @returns ends the keeping
 */
export function keepFocus(): () => void {
  let byKeyboard = false;
  const onKey = () => (byKeyboard = true);
  const onPointer = () => (byKeyboard = false);
  const onFocusOut = ({ target, relatedTarget }: FocusEvent) => {
    if (relatedTarget !== null || !(target instanceof HTMLElement)) return;
    // Told while the control is still there; where it was is known only now.
    const standIns = standInsOf(target);
    queueMicrotask(() => {
      if (document.activeElement !== document.body || canHaveFocus(target)) return;
      const next = byKeyboard ? standIns.flatMap((one) => [...document.querySelectorAll<HTMLElement>(one)]) : [];
      const seen = next.find(canHaveFocus);
      if (seen) seen.focus();
      else focusComposerFirst();
    });
  };
  document.addEventListener('keydown', onKey, true);
  document.addEventListener('pointerdown', onPointer, true);
  document.addEventListener('focusout', onFocusOut);
  return () => {
    document.removeEventListener('keydown', onKey, true);
    document.removeEventListener('pointerdown', onPointer, true);
    document.removeEventListener('focusout', onFocusOut);
  };
}

function standInsOf(control: HTMLElement): string[] {
  const rowKey = control.closest<HTMLElement>('li[data-row-key]')?.dataset['rowKey'];
  if (rowKey !== undefined) return [`li[data-row-key="${CSS.escape(rowKey)}"]`];
  return STAND_INS.find(([part]) => control.closest(part) !== null)?.slice(1) ?? [];
}

function canHaveFocus(element: HTMLElement): boolean {
  return element.isConnected && !element.matches(':disabled') && element.checkVisibility();
}

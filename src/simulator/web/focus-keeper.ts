import { focusComposerFirst } from './focus-composer.ts';

/**
 * Focus targets when a control is removed, by the part of the page that it was in: the first one that exists and is visible.
 */
const STAND_INS: readonly [part: string, ...standIns: string[]][] = [
  ['.person-picker', '.person-picker select'],
  ['.tour', '.tour [aria-current="step"]', '.tour h2', '.ribbon [aria-expanded]'],
  ['.earlier', 'li[data-row-key]'],
  ['.model-dialog', '.model-dialog .primary'],
  ['.pane-head', '.conversation[aria-current]', '.conversation'],
];

/**
 * A pressed control may be removed or disabled. The focus would then be lost, and the next Tab would start at the top of the
 * page. Instead the nearest element is focused, or the text box, where typing works.
 * @returns a function that stops this
 */
export function keepFocus(): () => void {
  let byKeyboard = false;
  const onKey = () => (byKeyboard = true);
  const onPointer = () => (byKeyboard = false);
  const onFocusOut = ({ target, relatedTarget }: FocusEvent) => {
    if (relatedTarget !== null || !(target instanceof HTMLElement)) return;
    // Called while the control still exists; its former position can only be determined now.
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

import { useCallback } from 'preact/hooks';
import { usePage } from './page-context.ts';

const COPIED_SHOWN_MS = 1_500;

/** Handles presses inside rendered text, which has no components: links of the bot, and the copy button of a code block. */
export function useTextClicks(): (event: MouseEvent) => void {
  const { openInApp, notify, say } = usePage();
  return useCallback(
    (event) => {
      const target = event.target as Element;
      const link = target.closest<HTMLAnchorElement>('a[data-in-app]');
      if (link) {
        event.preventDefault();
        openInApp(link.href);
        return;
      }
      const button = target.closest<HTMLElement>('[data-copy]');
      if (!button) return;
      navigator.clipboard.writeText(button.parentElement?.querySelector('code')?.textContent ?? '').then(
        () => {
          showCopied(button);
          notify(say('copied'));
        },
        () => notify(say('copyFailed')),
      );
    },
    [openInApp, notify, say],
  );
}

function showCopied(button: HTMLElement): void {
  button.classList.add('copied');
  setTimeout(() => button.classList.remove('copied'), COPIED_SHOWN_MS);
}

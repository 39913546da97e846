import { useCallback } from 'preact/hooks';
import { usePage } from './page-context.ts';

/** How long a button confirms that text was copied. */
export const COPIED_SHOWN_MS = 1_500;

/** Handles clicks inside rendered text, which has no components: links of the bot, and the copy button of a code block. */
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
          showCopied(button, say('copied'));
        },
        () => notify(say('copyFailed')),
      );
    },
    [openInApp, notify, say],
  );
}

/** Shows the confirmation on the button; the element beside it is announced to screen readers. */
function showCopied(button: HTMLElement, words: string): void {
  const place = button.parentElement?.querySelector<HTMLElement>('.said');
  button.classList.add('copied');
  place?.setAttribute('data-said', words);
  setTimeout(() => {
    button.classList.remove('copied');
    place?.removeAttribute('data-said');
  }, COPIED_SHOWN_MS);
}

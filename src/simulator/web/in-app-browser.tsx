import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { SECOND_MS } from '../../shared/clock.ts';
import type { FrameView } from '../api.ts';
import { focusComposer } from './focus-composer.ts';
import { IconButton } from './icon.tsx';
import { usePage } from './page-context.ts';

/** Long enough to read two lines, unless the person navigates on or closes the panel first. */
const CLOSES_AFTER_MS = 4 * SECOND_MS;

/** The in-app browser: beside the conversation if there is room, otherwise over it from the right; on phones full screen. */
export function InAppBrowser({ frame, onClose }: { frame: FrameView; onClose(): void }) {
  const { say } = usePage();
  const panel = useRef<HTMLElement>(null);
  const [loaded, setLoaded] = useState(false);
  useFocusInside(panel);
  // Each page in the frame is a new view, so that a person who navigates on does not lose the next page.
  useEffect(() => {
    if (!frame.isDone) return;
    const timer = setTimeout(onClose, CLOSES_AFTER_MS);
    return () => clearTimeout(timer);
  }, [frame, onClose]);
  return (
    <section
      ref={panel}
      class="in-app"
      tabIndex={-1}
      aria-label={frame.host}
      onKeyDown={(event) => event.key === 'Escape' && onClose()}
    >
      <header class="in-app-bar">
        <span class="in-app-host" title={frame.host}>
          {frame.host}
        </span>
        <span class="in-app-done" role="status">
          {frame.isDone && say('closesByItself')}
        </span>
        <IconButton icon="close" label={say('close')} onPress={onClose} />
      </header>
      <LoginHint host={frame.host} />
      <div class="in-app-page">
        {!loaded && <p class="in-app-loading">{say('pageLoading', { host: frame.host })}</p>}
        <iframe
          title={say('inAppBrowser')}
          src={frame.frameUrl}
          sandbox="allow-forms allow-same-origin allow-scripts"
          onLoad={() => setLoaded(true)}
        />
      </div>
    </section>
  );
}

/**
 * Moves the focus into the panel, and back when it closes; to the text box if the former element is gone or there was none.
 */
function useFocusInside(panel: { current: HTMLElement | null }): void {
  // Before the panel is removed: an effect's cleanup runs after that.
  useLayoutEffect(() => {
    const before = document.activeElement;
    const element = panel.current;
    element?.focus();
    return () => {
      // Does not take the focus from a person who is typing in the chat.
      const active = document.activeElement;
      if (active !== null && active !== document.body && active.isConnected && !element?.contains(active)) return;
      if (before instanceof HTMLElement && before.isConnected && before !== document.body) before.focus();
      else focusComposer();
    };
  }, [panel]);
}

/** Credentials, shown beside the local sign-in service's pages: its people exist only on this machine. */
function LoginHint({ host }: { host: string }) {
  const { bootstrap, person, say } = usePage();
  const login = bootstrap.localLogins?.[person.id];
  if (login === undefined || host !== bootstrap.signInHost) return null;
  return (
    <dl class="login-hint" aria-label={say('loginTitle')}>
      <div>
        <dt>{say('loginName')}</dt>
        <dd>{login.username}</dd>
      </div>
      <div>
        <dt>{say('loginPassword')}</dt>
        <dd>{login.password}</dd>
      </div>
    </dl>
  );
}

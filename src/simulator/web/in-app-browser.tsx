import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { SECOND_MS } from '../../shared/clock.ts';
import type { FrameView } from '../api.ts';
import { focusComposer } from './focus-composer.ts';
import { IconButton } from './icon.tsx';
import { usePage } from './page-context.ts';

/** Long enough to read two lines; going on to another page, or closing by hand, comes first. */
const CLOSES_AFTER_MS = 4 * SECOND_MS;

/** The in-app browser: beside the conversation where there is room, else over it from the right, on phones over all of it. */
export function InAppBrowser({ frame, onClose }: { frame: FrameView; onClose(): void }) {
  const { say } = usePage();
  const panel = useRef<HTMLElement>(null);
  const [loaded, setLoaded] = useState(false);
  useFocusInside(panel);
  // Each page that the frame shows is a new view of it, so that whoever goes on is not thrown out of the next one.
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

/** The focus goes into the panel, and back to where it was; where that is gone, or was nowhere, to the text box. */
function useFocusInside(panel: { current: HTMLElement | null }): void {
  // Before the panel leaves the page: an effect's end comes after that.
  useLayoutEffect(() => {
    const before = document.activeElement;
    const element = panel.current;
    element?.focus();
    return () => {
      // Who writes in the chat beside the panel goes on writing.
      const active = document.activeElement;
      if (active !== null && active !== document.body && active.isConnected && !element?.contains(active)) return;
      if (before instanceof HTMLElement && before.isConnected && before !== document.body) before.focus();
      else focusComposer();
    };
  }, [panel]);
}

/** On the local sign-in service's pages, what the person types there: its people exist on this machine only. */
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

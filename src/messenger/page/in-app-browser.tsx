import { useEffect, useRef, useState } from 'preact/hooks';
import type { FrameView } from '../api.ts';
import { IconButton } from './icon.tsx';
import { usePage } from './page-context.ts';

/** The in-app browser: slides over the conversation from the right, on phones over all of it. */
export function InAppBrowser({ frame, onClose }: { frame: FrameView; onClose(): void }) {
  const { say } = usePage();
  const panel = useRef<HTMLElement>(null);
  const [loaded, setLoaded] = useState(false);
  useEffect(() => {
    const before = document.activeElement;
    panel.current?.focus();
    return () => before instanceof HTMLElement && before.isConnected && before.focus();
  }, []);
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
        <IconButton icon="close" label={say('close')} onPress={onClose} />
      </header>
      <LoginHint host={frame.host} />
      <div class="in-app-page">
        {!loaded && <p class="in-app-loading">{say('pageLoading', { host: frame.host })}</p>}
        <iframe
          title="In-app browser"
          src={frame.frameUrl}
          sandbox="allow-forms allow-same-origin allow-scripts"
          onLoad={() => setLoaded(true)}
        />
      </div>
    </section>
  );
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

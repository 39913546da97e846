import { useCallback, useEffect, useMemo } from 'preact/hooks';
import { ConversationPane } from './conversation-pane.tsx';
import { InAppBrowser } from './in-app-browser.tsx';
import { PageFactsProvider, type PageContext } from './page-context.ts';
import { Sidebar } from './sidebar.tsx';
import { Ribbon } from './tour/ribbon.tsx';
import { TourPanel } from './tour/tour-panel.tsx';
import { useTour } from './tour/use-tour.ts';
import { BOT_SENDER } from './asker.ts';
import { useMedia } from './use-media.ts';
import { useOpenConversation } from './use-open-conversation.ts';
import { useSession } from './use-session.ts';
import type { PageText } from './page-texts.ts';

/** Minimum width for list and conversation side by side; the style sheet has the same breakpoint. */
const WIDE = '(min-width: 721px)';

interface SessionProps {
  facts: Omit<PageContext, 'openInApp'>;
  onPerson(personId: string): void;
}

/** One person's page: the conversations, the open one, the in-app browser. Must be remounted for another person. */
export function Session({ facts, onPerson }: SessionProps) {
  const { say, notify, person, thinking } = facts;
  const onFault = useCallback((text: PageText) => notify(say(text)), [notify, say]);
  const [state, actions] = useSession(person.id, onFault);
  const open = useOpenConversation();
  const conversations = state.conversations ?? [];
  const isWide = useMedia(WIDE);
  const tour = useTour(state, facts, isWide);
  const opened = conversations.find(({ id }) => id === open.conversationId);
  const first = conversations.find(({ kind }) => kind === 'private') ?? conversations[0];
  // A phone shows the list until a conversation is opened: an invisible conversation must not be marked as read.
  const current = opened ?? (isWide ? first : undefined);
  const pageFacts = useMemo(() => ({ ...facts, openInApp: actions.openInApp }), [facts, actions]);

  // During rendering, so that a block's first appearance and its clock agree.
  const nowMs = Date.now();
  for (const message of (current && state.logs[current.id]) ?? []) {
    if (message.sender === BOT_SENDER) thinking.observe(message, nowMs);
  }

  const unread = conversations.reduce((sum, one) => sum + one.unread, 0);
  useEffect(() => {
    document.title = `${unread > 0 ? `(${unread}) ` : ''}${person.name} · ${say('appTitle')}`;
  }, [unread, person, say]);

  const panel = facts.bootstrap.isLocal === true && !tour.isHidden && (
    <TourPanel key="tour" tour={tour} state={state} actions={actions} onOpen={open.open} />
  );
  return (
    <PageFactsProvider value={pageFacts}>
      {facts.bootstrap.isLocal === true && <Ribbon tour={tour} />}
      <div class="shell" data-view={opened ? 'conversation' : 'list'}>
        {/* Before the elements to its right and below, so that the Tab order matches the visual order. */}
        {!isWide && panel}
        <Sidebar
          key="sidebar"
          conversations={conversations}
          selectedId={current?.id}
          isAlone={!current && !isWide}
          onSelect={open.open}
          onPerson={onPerson}
        />
        {isWide && panel}
        <div key="stage" class={`stage ${state.frame ? 'halved' : ''}`}>
          {current ? (
            <ConversationPane
              key={current.id}
              conversation={current}
              state={state}
              actions={actions}
              onBack={open.back}
            />
          ) : (
            isWide && (
              <main class="pane load-state">
                <p>{say(state.connected ? 'loading' : 'reconnecting')}</p>
              </main>
            )
          )}
          {state.frame && <InAppBrowser key={state.frame.id} frame={state.frame} onClose={actions.closeInApp} />}
        </div>
      </div>
    </PageFactsProvider>
  );
}

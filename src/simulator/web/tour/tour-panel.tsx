import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { withoutSlashes } from '../../../shared/text/texts.ts';
import type { Bootstrap, ConversationView } from '../../api.ts';
import { Icon, IconButton } from '../icon.tsx';
import { usePage } from '../page-context.ts';
import type { PageState } from '../page-state.ts';
import type { SessionActions } from '../use-session.ts';
import { KillStep } from './kill-step.tsx';
import { addressOf, neighbourOf } from './neighbour.ts';
import { TOUR_ID } from './ribbon.tsx';
import { uploadSamplePicture } from './sample-picture.ts';
import { tourIn } from './tour-texts.ts';
import type { Tour } from './use-tour.ts';
import { STEPS, type Step } from './what-happened.ts';

export interface TourPanelProps {
  tour: Tour;
  state: PageState;
  actions: SessionActions;
  onOpen(conversationId: string): void;
}

/** The steps of the tour, each with a button that starts it. A step is completed when it has actually happened. */
export function TourPanel(props: TourPanelProps) {
  const { tour } = props;
  const { language, bootstrap } = usePage();
  const say = tourIn(language);
  const next = STEPS.find((step) => !tour.done.has(step));
  return (
    <aside
      class="tour"
      id={TOUR_ID}
      aria-labelledby="tour-title"
      onKeyDown={(event) => event.key === 'Escape' && tour.toggle()}
    >
      <header>
        <h2 id="tour-title" tabIndex={-1}>
          {say(next === undefined ? 'tourOver' : 'tourTitle')}
        </h2>
        <IconButton icon="close" label={say('hideTour')} onPress={tour.toggle} />
      </header>
      <ol>
        {STEPS.map((step) => (
          <li
            key={step}
            class={tour.done.has(step) ? 'done' : ''}
            aria-current={step === next ? 'step' : undefined}
            tabIndex={step === next ? -1 : undefined}
          >
            <span class="tour-mark">{tour.done.has(step) && <Icon name="check" />}</span>
            <div class="tour-step">
              <span class="tour-name">
                {say(step)}
                {tour.done.has(step) && <span class="visually-hidden"> ({say('isDone')})</span>}
              </span>
              {(step === next || step === 'kill') && (
                <>
                  {step !== 'kill' && <p>{typedIn(say(`${step}Hint`, { bot: bootstrap.botName }), bootstrap)}</p>}
                  <StepAction step={step} isLongOffered={next === 'stop'} {...props} />
                </>
              )}
            </div>
          </li>
        ))}
      </ol>
      {next === undefined && <WhatNext {...props} />}
    </aside>
  );
}

/** What to do after the tour. */
function WhatNext(props: TourPanelProps) {
  const { language, bootstrap, say: sayOfPage } = usePage();
  const ask = useAsk(props, props.state.conversations ?? []);
  const question = sayOfPage('questionTwo', { platform: sayOfPage(bootstrap.protocol) });
  const place = useRef<HTMLDivElement>(null);
  // The panel is often shorter than its content, and this is at its bottom.
  useEffect(() => place.current?.scrollIntoView({ block: 'nearest' }), []);
  return (
    <div class="tour-next" ref={place}>
      <p>{tourIn(language)('tourNext', { bot: bootstrap.botName })}</p>
      <Action name={question} onPress={() => ask(question)} />
    </div>
  );
}

/** @param isLongOffered whether another step has the button that asks for a long answer */
function StepAction({
  step,
  isLongOffered,
  ...props
}: TourPanelProps & { step: Step; isLongOffered: boolean }): ComponentChildren {
  const { bootstrap, person, language } = usePage();
  const say = tourIn(language);
  const conversations = props.state.conversations ?? [];
  const ask = useAsk(props, conversations);
  const uploading = useRef(false);
  const group = conversations.find(({ kind }) => kind === 'group');
  const beside = neighbourOf(bootstrap.people, person.id);
  switch (step) {
    case 'ask':
      return <Action name={say('askAction')} onPress={() => ask(say('askText'))} />;
    case 'mention':
      return group ? (
        <Action name={say('mentionAction')} onPress={() => (props.onOpen(group.id), props.tour.leave())} />
      ) : null;
    case 'image':
      return (
        <Action
          name={say('imageAction')}
          onPress={() => {
            if (uploading.current) return;
            uploading.current = true;
            uploadSamplePicture()
              .then((image) => ask(say('imageText'), { image }))
              .catch(() => undefined)
              .finally(() => (uploading.current = false));
          }}
        />
      );
    case 'stop':
      return <Action name={say('longAction')} onPress={() => ask(say('longText'))} />;
    case 'tryAgain':
      return (
        <Action
          name={typedIn(say('tryAgainAction'), bootstrap)}
          onPress={() => ask(say('retryText').replace(bootstrap.protocol === 'slack' ? '/' : '', ''))}
        />
      );
    case 'second':
      return beside ? (
        <a class="tour-action" href={addressOf(beside.id)} target="_blank" rel="noopener">
          {say('secondAction', { name: beside.name })}
        </a>
      ) : null;
    case 'kill':
      return (
        <KillStep
          tour={props.tour}
          state={props.state}
          onLong={isLongOffered ? undefined : () => ask(say('longText'), { isTourKept: true })}
        />
      );
    case 'signIn':
      return null;
  }
}

/** Slack reserves messages with a leading slash, so commands are typed without it. */
function typedIn(words: string, { protocol }: Bootstrap): string {
  return protocol === 'slack' ? withoutSlashes(words) : words;
}

/** Sends a message in the private chat, and opens it. */
function useAsk({ actions, onOpen, tour }: TourPanelProps, conversations: readonly ConversationView[]) {
  const { person } = usePage();
  return (text: string, { image, isTourKept }: { image?: { id: string; url: string }; isTourKept?: boolean } = {}) => {
    const chat = conversations.find(({ kind }) => kind === 'private');
    if (!chat) return;
    onOpen(chat.id);
    if (!isTourKept) tour.leave();
    actions.load(chat.id);
    void actions.send(
      chat.id,
      { text, images: image ? [image.id] : [] },
      { senderName: person.name, images: image ? [{ url: image.url, alt: '' }] : [] },
    );
  };
}

function Action({ name, onPress }: { name: string; onPress(): void }) {
  return (
    <button type="button" class="tour-action" onClick={onPress}>
      {name}
    </button>
  );
}

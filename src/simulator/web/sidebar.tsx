import { MINUTE_MS } from '../../shared/clock.ts';
import type { ConversationView, PersonView } from '../api.ts';
import { Avatar } from './avatar.tsx';
import { Icon } from './icon.tsx';
import { plainPreview } from './markdown.ts';
import { usePage } from './page-context.ts';
import { placeOf } from './people.ts';
import { fixedName } from './page-texts.ts';
import { listTime } from './times.ts';
import { useNow } from './use-now.ts';

interface SidebarProps {
  conversations: readonly ConversationView[];
  selectedId: string | undefined;
  /** On a phone the list is the page's main part. */
  isAlone: boolean;
  onSelect(conversationId: string): void;
  onPerson(personId: string): void;
}

/** The current person, and their conversations. */
export function Sidebar(props: SidebarProps) {
  const { bootstrap, person, say, language } = usePage();
  return (
    <div class="sidebar" role={props.isAlone ? 'main' : undefined}>
      {props.isAlone && <h1 class="visually-hidden">{say('appTitle')}</h1>}
      <div class="sidebar-head" role={props.isAlone ? undefined : 'banner'}>
        <PersonPicker people={bootstrap.people} person={person} onPerson={props.onPerson} />
        {person.isInactive === true && <p class="person-note">{say('inactiveNote')}</p>}
      </div>
      <nav {...fixedName('conversations', language)} class="conversations">
        {props.conversations.map((conversation) => (
          <ConversationButton
            key={conversation.id}
            conversation={conversation}
            selected={conversation.id === props.selectedId}
            onSelect={props.onSelect}
          />
        ))}
      </nav>
    </div>
  );
}

/** The native select lies invisibly over the card, which provides its list, keys and screen reader support. */
function PersonPicker(props: { people: PersonView[]; person: PersonView; onPerson(personId: string): void }) {
  const { person } = props;
  const { say, language } = usePage();
  return (
    <div class="person-picker">
      <Avatar name={person.name} />
      <span class="person-words" aria-hidden="true">
        <span class="person-name">{person.name}</span>
        <span class="person-department">{placeOf(person, say)}</span>
      </span>
      <Icon name="chevron" />
      <select
        {...fixedName('signedInAs', language)}
        value={person.id}
        onChange={(event) => props.onPerson(event.currentTarget.value)}
      >
        {props.people.map((one) => (
          <option key={one.id} value={one.id}>
            {[one.name, placeOf(one, say)].filter((part) => part !== '').join(' · ')}
          </option>
        ))}
      </select>
    </div>
  );
}

function ConversationButton(props: {
  conversation: ConversationView;
  selected: boolean;
  onSelect(conversationId: string): void;
}) {
  const { bootstrap, person, say, times, drafts } = usePage();
  const { conversation, selected } = props;
  const nowMs = useNow(MINUTE_MS);
  const draft = selected ? '' : drafts.read(person.id, conversation.id).trim();
  const isPrivate = conversation.kind === 'private';
  const line = draft || plainPreview(conversation.lastLine) || say('noMessagesYet');
  return (
    <button
      type="button"
      class="conversation"
      data-kind={conversation.kind}
      aria-current={selected ? 'true' : undefined}
      onClick={() => props.onSelect(conversation.id)}
    >
      <Avatar name={conversation.name} kind={isPrivate ? 'bot' : 'group'} />
      <span class="conversation-name" dir="auto">
        {nameOf(conversation, bootstrap.botName)}
      </span>
      <span class="conversation-time" aria-hidden="true">
        {conversation.lastAtMs === null ? '' : listTime(conversation.lastAtMs, nowMs, times)}
      </span>
      {/* Text of other people must not become a control's name; the log reads it out. */}
      <span class="conversation-line" aria-hidden="true" dir="auto">
        {draft !== '' && <span class="draft-mark">{say('draft')}</span>}
        {line}
      </span>
      {conversation.unread > 0 && (
        <span class="unread">
          <span aria-hidden="true">{conversation.unread > 99 ? '99+' : conversation.unread}</span>
          <span class="visually-hidden">{say('unread', { count: conversation.unread })}</span>
        </span>
      )}
    </button>
  );
}

function nameOf(conversation: ConversationView, botName: string): string {
  return conversation.name || botName;
}

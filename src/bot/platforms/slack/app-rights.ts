/**
 * All Slack methods and events used by this folder, with the scopes that each needs. No other method can be called and no
 * other event is read. The app manifest and `npm run check` are generated from this list (PLATFORM_FACTS.md slack-scopes).
 */

/** Methods of Slack's Web API, by the credentials of the call. Each needs all of its scopes. */
export const METHODS = {
  bot: {
    'assistant.threads.setStatus': ['chat:write'],
    'auth.test': [],
    'bots.info': ['users:read'],
    'chat.appendStream': ['chat:write'],
    'chat.delete': ['chat:write'],
    'chat.postEphemeral': ['chat:write'],
    // Also posts to a person's id, for which Slack opens the private chat.
    'chat.postMessage': ['chat:write', 'im:write'],
    'chat.startStream': ['chat:write'],
    'chat.stopStream': ['chat:write'],
    'chat.update': ['chat:write'],
    'conversations.history': ['channels:history', 'groups:history', 'im:history', 'mpim:history'],
    // For channels mentioned in a question.
    'conversations.info': ['channels:read', 'groups:read'],
    'conversations.replies': ['channels:history', 'groups:history', 'im:history', 'mpim:history'],
    'files.completeUploadExternal': ['files:write'],
    'files.getUploadURLExternal': ['files:write'],
    'files.info': ['files:read'],
    'users.info': ['users:read'],
    // For the names in a thread of many people.
    'users.list': ['users:read'],
  },
  /** Bot token of an app that is declared as an agent. */
  agent: { 'assistant.threads.setSuggestedPrompts': ['assistant:write'] },
  /** App-level token. */
  app: { 'apps.connections.open': ['connections:write'] },
  /** On behalf of a person who signs in. */
  signIn: { 'openid.connect.token': ['openid'], 'openid.connect.userInfo': ['openid'] },
  /** Client secret of the app. */
  client: { 'oauth.v2.access': [] },
} as const;

/** The events that are read, by their subscription names. */
export const EVENTS = {
  agent_session_stopped: ['assistant:write'],
  app_home_opened: [],
  app_mention: ['app_mentions:read'],
  app_uninstalled: [],
  assistant_thread_started: ['assistant:write'],
  'message.channels': ['channels:history'],
  'message.groups': ['groups:history'],
  'message.im': ['im:history'],
  'message.mpim': ['mpim:history'],
  tokens_revoked: [],
} as const;

/** Scopes needed for anything else. */
const OTHERS = { files: ['files:read'], command: ['commands'] } as const;

/** The slash command, available everywhere in Slack. */
export const COMMAND = '/parley';

/** Events sent only to apps declared as agents, which also have the scope. */
const OF_AGENTS: ReadonlySet<string> = new Set<keyof typeof EVENTS>([
  'agent_session_stopped',
  'app_home_opened',
  'assistant_thread_started',
]);
/** Events that report that the app was removed from a workspace. */
const OF_SHARED_APPS: ReadonlySet<string> = new Set<keyof typeof EVENTS>(['app_uninstalled', 'tokens_revoked']);

/** Scopes without which only a minor feature is lost, and that feature. */
const LOST_WITHOUT: Readonly<Record<string, string>> = {
  'channels:read': 'names of mentioned public channels',
  commands: `the command ${COMMAND}`,
  'files:read': 'images and files',
  'files:write': 'very long answers as a file',
  'groups:read': 'names of mentioned private channels',
  'im:write': 'direct messages from the bot',
  'mpim:history': 'group chats',
  'users:read': 'names on the sign-in page and of mentioned people',
};

export type BotMethod = keyof typeof METHODS.bot | keyof typeof METHODS.agent;
export type AppMethod = keyof typeof METHODS.app;
type OtherMethod = keyof typeof METHODS.signIn | keyof typeof METHODS.client;

/** Address of a method. @param apiUrl ends in `/api` */
export function methodUrl(apiUrl: string, method: BotMethod | AppMethod | OtherMethod): string {
  return `${apiUrl}/${method}`;
}

/** Event types as delivered: `message.im` and the other message events arrive as `message`. */
const EVENT_TYPES: ReadonlySet<unknown> = new Set(Object.keys(EVENTS).map((name) => name.split('.', 1)[0]));

/** Whether the app subscribes to an event; no other event is read. */
export function isSubscribedTo(event: unknown): boolean {
  return typeof event === 'object' && event !== null && 'type' in event && EVENT_TYPES.has(event.type);
}

/** The events to subscribe to. */
export function subscribedEvents({ isAgent = false, isShared = false }): string[] {
  return eventsFor(isAgent).flatMap(([name]) => (isShared || !OF_SHARED_APPS.has(name) ? [name] : []));
}

/** The scopes of the bot token, sorted. */
export function botScopes(isAgent: boolean): string[] {
  const events = eventsFor(isAgent).map(([, scopes]) => scopes);
  const ofAgents = isAgent ? Object.values(METHODS.agent) : [];
  return inOrder([...Object.values(METHODS.bot), ...ofAgents, ...events, ...Object.values(OTHERS)]);
}

/** Difference between the granted scopes and those that the code uses. */
export interface ScopesCompared {
  /** Scopes without which answers do not work everywhere. */
  missing: string[];
  /** Missing scopes of minor features, each followed by the lost feature. */
  wanting: string[];
  unused: string[];
}

/** @param granted comma-separated, as in Slack's header */
export function compareScopes(granted: string): ScopesCompared {
  const given = granted.split(',').map((scope) => scope.trim());
  const lacking = botScopes(false).filter((scope) => !given.includes(scope));
  const allowed = [...botScopes(true), ''];
  return {
    missing: lacking.filter((scope) => LOST_WITHOUT[scope] === undefined),
    wanting: lacking.flatMap((scope) => (LOST_WITHOUT[scope] === undefined ? [] : `${scope} (${LOST_WITHOUT[scope]})`)),
    unused: given.filter((scope) => !allowed.includes(scope)),
  };
}

/** The scopes requested from a person who signs in. */
export function signInScopes(): string[] {
  return inOrder(Object.values(METHODS.signIn));
}

function eventsFor(isAgent: boolean): [name: string, scopes: readonly string[]][] {
  return Object.entries(EVENTS).filter(([name]) => isAgent || !OF_AGENTS.has(name));
}

function inOrder(scopes: readonly (readonly string[])[]): string[] {
  return [...new Set(scopes.flat())].sort();
}

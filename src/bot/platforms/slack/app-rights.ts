/**
 * All that this folder asks of Slack, with the right that each needs: no call can be made and no event is read that does not stand
 * here, and the app's manifest and `npm run check` are made from it (PLATFORM_FACTS.md slack-scopes).
 */

/** The calls of Slack's Web API, by whose token they are made; each needs all that it names. */
export const METHODS = {
  bot: {
    'assistant.threads.setStatus': ['chat:write'],
    'auth.test': [],
    'bots.info': ['users:read'],
    'chat.appendStream': ['chat:write'],
    'chat.delete': ['chat:write'],
    'chat.postEphemeral': ['chat:write'],
    // To a person's id too, for whom Slack opens the private chat.
    'chat.postMessage': ['chat:write', 'im:write'],
    'chat.startStream': ['chat:write'],
    'chat.stopStream': ['chat:write'],
    'chat.update': ['chat:write'],
    'conversations.history': ['channels:history', 'groups:history', 'im:history', 'mpim:history'],
    // A channel that a question mentions.
    'conversations.info': ['channels:read', 'groups:read'],
    'conversations.replies': ['channels:history', 'groups:history', 'im:history', 'mpim:history'],
    'files.completeUploadExternal': ['files:write'],
    'files.getUploadURLExternal': ['files:write'],
    'files.info': ['files:read'],
    'users.info': ['users:read'],
  },
  /** The same token, where the app is declared as an agent. */
  agent: { 'assistant.threads.setSuggestedPrompts': ['assistant:write'] },
  /** With the app-level token. */
  app: { 'apps.connections.open': ['connections:write'] },
  /** By a person's browser, and for that person. */
  signIn: { 'openid.connect.token': ['openid'], 'openid.connect.userInfo': ['openid'] },
  /** With the app's own secret. */
  client: { 'oauth.v2.access': [] },
} as const;

/** The events that are read, as they are subscribed to. */
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

/** What else comes or is fetched. */
const OTHERS = { files: ['files:read'], command: ['commands'] } as const;

/** The command that the app answers to anywhere in Slack. */
export const COMMAND = '/parley';

/** Events that only an app is sent that its makers declared as an agent, which also gives it the scope. */
const OF_AGENTS: ReadonlySet<string> = new Set<keyof typeof EVENTS>([
  'agent_session_stopped',
  'app_home_opened',
  'assistant_thread_started',
]);
/** Events by which an app learns that it was taken out of a workspace. */
const OF_SHARED_APPS: ReadonlySet<string> = new Set<keyof typeof EVENTS>(['app_uninstalled', 'tokens_revoked']);

/** Rights without which something smaller is lost than answers, and what that is. */
const LOST_WITHOUT: Readonly<Record<string, string>> = {
  'channels:read': 'names of mentioned public channels',
  commands: `the command ${COMMAND}`,
  'files:read': 'pictures and files',
  'files:write': 'very long answers as a file',
  'groups:read': 'names of mentioned private channels',
  'im:write': 'writing to people first',
  'mpim:history': 'group chats',
  'users:read': 'names on the sign-in page and of mentioned people',
};

export type BotMethod = keyof typeof METHODS.bot | keyof typeof METHODS.agent;
export type AppMethod = keyof typeof METHODS.app;
type OtherMethod = keyof typeof METHODS.signIn | keyof typeof METHODS.client;

/** Where a call goes. @param apiUrl ends in `/api` */
export function methodUrl(apiUrl: string, method: BotMethod | AppMethod | OtherMethod): string {
  return `${apiUrl}/${method}`;
}

/** The types that events have: `message.im` and its like all arrive as `message`. */
const EVENT_TYPES: ReadonlySet<unknown> = new Set(Object.keys(EVENTS).map((name) => name.split('.', 1)[0]));

/** Whether an event is one of those that the app subscribes to; no other is read. */
export function isSubscribedTo(event: unknown): boolean {
  return typeof event === 'object' && event !== null && 'type' in event && EVENT_TYPES.has(event.type);
}

/** The events to subscribe to. */
export function subscribedEvents({ isAgent = false, isShared = false }): string[] {
  return eventsFor(isAgent).flatMap(([name]) => (isShared || !OF_SHARED_APPS.has(name) ? [name] : []));
}

/** The scopes of the bot's token, in order. */
export function botScopes(isAgent: boolean): string[] {
  const events = eventsFor(isAgent).map(([, scopes]) => scopes);
  const ofAgents = isAgent ? Object.values(METHODS.agent) : [];
  return inOrder([...Object.values(METHODS.bot), ...ofAgents, ...events, ...Object.values(OTHERS)]);
}

/** How the scopes that were granted differ from those that the code uses. */
export interface ScopesCompared {
  /** Without which no answer comes everywhere. */
  missing: string[];
  /** With what is lost behind each. */
  wanting: string[];
  unused: string[];
}

/** @param granted comma-separated, as Slack's header has them */
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

/** The scopes that a person who signs in is asked for. */
export function signInScopes(): string[] {
  return inOrder(Object.values(METHODS.signIn));
}

function eventsFor(isAgent: boolean): [name: string, scopes: readonly string[]][] {
  return Object.entries(EVENTS).filter(([name]) => isAgent || !OF_AGENTS.has(name));
}

function inOrder(scopes: readonly (readonly string[])[]): string[] {
  return [...new Set(scopes.flat())].sort();
}

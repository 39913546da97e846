/** Scopes that the workspace grants to the app by default: those in the app's manifest (PLATFORM_FACTS.md slack-scopes). */
export const DEFAULT_SCOPES: readonly string[] = [
  ...[
    'app_mentions:read',
    'assistant:write',
    'channels:history',
    'channels:read',
    'chat:write',
    'commands',
    'files:read',
    'files:write',
  ],
  ...['groups:history', 'groups:read', 'im:history', 'im:write', 'mpim:history', 'users:read'],
];

const BY_METHOD: Readonly<Record<string, string>> = {
  'assistant.threads.setStatus': 'chat:write',
  'assistant.threads.setSuggestedPrompts': 'assistant:write',
  'bots.info': 'users:read',
  'conversations.open': 'im:write',
  'files.completeUploadExternal': 'files:write',
  'files.getUploadURLExternal': 'files:write',
  'files.info': 'files:read',
  'users.info': 'users:read',
  'users.list': 'users:read',
};

/**
 * The scope that a call requires.
 * @param channel that is read, if the call reads a channel: a private chat's id begins with D
 */
export function scopeOf(method: string, channel: string | undefined): string | undefined {
  if (method.startsWith('chat.')) return 'chat:write';
  if (/^conversations\.(?:history|replies)$/.test(method))
    return channel?.startsWith('D') === true ? 'im:history' : 'channels:history';
  if (method === 'conversations.info') return channel?.startsWith('D') === true ? 'im:read' : 'channels:read';
  return BY_METHOD[method];
}

/**
 * What each room of src/ may import from others (docs/ARCHITECTURE.md tells why). `main.ts` may import all. A room may import types
 * from settings/, never its loader.
 */
export const ROOM_RULES: Readonly<Record<string, readonly string[]>> = {
  base: [],
  domain: ['base'],
  settings: ['base'],
  texts: ['base'],
  markdown: ['base'],
  platforms: ['base', 'domain', 'markdown', 'sign-in-dialects'],
  webhook: ['base', 'domain', 'feedback', 'platforms', 'identity', 'queue', 'reply', 'texts'],
  feedback: ['base', 'domain'],
  'sign-in-dialects': ['base'],
  identity: ['base', 'domain', 'platforms', 'sign-in-dialects'],
  queue: ['base', 'domain', 'platforms'],
  conversation: ['base', 'domain'],
  documents: ['base'],
  turn: [
    'base',
    'domain',
    'feedback',
    'platforms',
    'identity',
    'policy',
    'conversation',
    'documents',
    'models',
    'chat',
    'tools',
    'reply',
    'texts',
  ],
  models: ['base'],
  chat: ['base', 'models'],
  policy: ['base'],
  web: ['base'],
  knowledge: ['base', 'documents', 'policy', 'web'],
  tools: ['base', 'policy', 'knowledge', 'web'],
  reply: ['base', 'domain', 'platforms', 'texts'],
  metrics: ['base', 'domain', 'queue', 'identity', 'chat', 'webhook', 'turn', 'reply', 'knowledge'],
  local: ['base'],
  service: ['base', 'models', 'sign-in-dialects'],
  messenger: ['base'],
  check: [
    'base',
    'domain',
    'settings',
    'platforms',
    'sign-in-dialects',
    'identity',
    'policy',
    'knowledge',
    'models',
    'tools',
    'metrics',
    'local',
    'service',
    'messenger',
    'compose',
  ],
  compose: [
    ...[
      'base',
      'domain',
      'settings',
      'texts',
      'platforms',
      'webhook',
      'policy',
      'sign-in-dialects',
      'identity',
      'queue',
      'conversation',
      'turn',
      'models',
      'chat',
      'tools',
      'knowledge',
      'web',
    ],
    ...['reply', 'feedback', 'metrics', 'local', 'service', 'messenger', 'check'],
  ],
  eval: ['base', 'settings', 'compose', 'check', 'knowledge', 'messenger', 'service'],
  start: ['base', 'domain', 'feedback', 'settings', 'platforms', 'local', 'service', 'compose', 'check'],
};

/** The room whose types every room may use. */
export const TYPES_FOR_ALL = 'settings';

/**
 * Single files that stand open to files beyond a border. What there is of platforms (names, settings, words) is plain data that the
 * settings are made from, so that a platform is one folder; a description imports nothing but how a setting is written.
 */
export const OPEN_FILES: Readonly<Record<string, RegExp>> = {
  'platforms/registry.ts': /^(settings|domain|metrics)\//,
  'platforms/description.ts': /^settings\//,
  'settings/setting.ts': /^platforms\/\w+\/description\.ts$/,
  'settings/setting-kinds.ts': /^platforms\/\w+\/description\.ts$/,
};

/** Packages that belong to certain rooms, so that each can be replaced in one place. */
export const PACKAGE_ROOMS: Readonly<Record<string, readonly string[]>> = {
  bullmq: ['queue'],
  undici: ['base', 'chat', 'knowledge', 'platforms', 'service', 'sign-in-dialects', 'tools', 'web'],
  htmlparser2: ['documents', 'knowledge'],
  yaml: ['eval', 'knowledge'],
  '@mozilla/readability': ['tools'],
  linkedom: ['tools'],
  dotenv: ['settings'],
  'openid-client': ['sign-in-dialects'],
  saxes: ['documents', 'sign-in-dialects'],
  '@embedpdf/pdfium': ['documents'],
  preact: ['messenger'],
  '@lezer/common': ['markdown'],
  '@lezer/markdown': ['markdown'],
};

/** Lines after which a file surely holds two ideas. */
export const MAX_FILE_LINES = 400;

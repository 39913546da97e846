/**
 * What each room of src/ may import from others (docs/ARCHITECTURE.md tells why). Files directly in src/ put the rooms
 * together and may import all. A room may import types from settings/, never its loader.
 */
export const ROOM_RULES: Readonly<Record<string, readonly string[]>> = {
  base: [],
  settings: ['base'],
  texts: ['base'],
  markdown: ['base'],
  platforms: ['base', 'markdown'],
  webhook: ['base', 'platforms', 'identity', 'queue', 'reply', 'texts'],
  identity: ['base', 'platforms'],
  queue: ['base', 'platforms'],
  conversation: ['base', 'platforms'],
  turn: ['base', 'platforms', 'identity', 'policy', 'conversation', 'chat', 'tools', 'reply', 'texts'],
  chat: ['base'],
  policy: ['base'],
  tools: ['base', 'policy', 'texts'],
  reply: ['base', 'platforms', 'texts'],
  admin: ['base', 'platforms', 'queue', 'identity', 'conversation', 'chat'],
  local: ['base'],
  service: ['base'],
  messenger: ['base'],
};

/** The room whose types every room may use. */
export const TYPES_FOR_ALL = 'settings';

/** Packages that belong to certain rooms, so that each can be replaced in one place. */
export const PACKAGE_ROOMS: Readonly<Record<string, readonly string[]>> = {
  bullmq: ['queue'],
  undici: ['base', 'chat', 'platforms', 'service', 'tools'],
  '@mozilla/readability': ['tools'],
  linkedom: ['tools'],
  dotenv: ['settings'],
  preact: ['messenger'],
  '@lezer/common': ['markdown'],
  '@lezer/markdown': ['markdown'],
};

/** Lines after which a file surely holds two ideas. */
export const MAX_FILE_LINES = 400;

/**
 * Allowed imports of each module (docs/ARCHITECTURE.md has the map). A module is a program or library of `src/`; within
 * `bot` each folder is one. `main.ts` may import all. The rows form no cycle.
 */
export const MODULE_RULES: Readonly<Record<string, readonly string[]>> = {
  shared: [],
  service: ['shared'],
  simulator: ['shared'],
  'bot/domain': ['shared'],
  'bot/config': ['shared', 'bot/domain'],
  'bot/i18n': ['shared'],
  'bot/policy': ['shared'],
  'bot/model': ['shared'],
  'bot/platforms': ['shared', 'bot/domain'],
  'bot/audit': ['shared', 'bot/domain'],
  'bot/identity': ['shared', 'bot/domain', 'bot/platforms'],
  'bot/queue': ['shared', 'bot/domain', 'bot/platforms'],
  'bot/knowledge': ['shared', 'bot/policy'],
  'bot/tools': ['shared', 'bot/policy', 'bot/knowledge'],
  'bot/reply': ['shared', 'bot/domain', 'bot/platforms', 'bot/i18n'],
  'bot/ingress': ['shared', 'bot/domain', 'bot/platforms', 'bot/identity', 'bot/queue', 'bot/reply', 'bot/i18n'],
  'bot/turn': [
    ...['shared', 'bot/domain', 'bot/platforms', 'bot/identity', 'bot/policy', 'bot/knowledge', 'bot/model'],
    ...['bot/tools', 'bot/reply', 'bot/i18n'],
  ],
  'bot/admin': [
    ...['shared', 'bot/domain', 'bot/platforms', 'bot/identity', 'bot/policy', 'bot/queue'],
    ...['bot/reply', 'bot/turn', 'bot/audit'],
  ],
  'bot/metrics': [
    ...['shared', 'bot/domain', 'bot/queue', 'bot/identity', 'bot/model', 'bot/ingress', 'bot/turn', 'bot/reply'],
    'bot/knowledge',
  ],
  'bot/app': [
    ...['shared', 'service', 'simulator', 'bot/domain', 'bot/config', 'bot/i18n', 'bot/policy', 'bot/model'],
    ...['bot/platforms', 'bot/identity', 'bot/queue', 'bot/knowledge', 'bot/tools', 'bot/reply', 'bot/ingress'],
    ...['bot/turn', 'bot/audit', 'bot/metrics', 'bot/admin'],
  ],
  cli: [
    ...['shared', 'service', 'simulator', 'bot/domain', 'bot/config', 'bot/policy', 'bot/model', 'bot/platforms'],
    ...['bot/identity', 'bot/knowledge', 'bot/tools', 'bot/queue', 'bot/reply', 'bot/turn', 'bot/audit', 'bot/metrics'],
    ...['bot/admin', 'bot/app'],
  ],
};

/** The module whose types every module of the bot and the command line may use. */
export const TYPES_FOR_ALL = 'bot/config';

/**
 * Files that lower modules may import as an exception. Platform descriptions (names, settings, slash words) are plain data
 * for the settings, so that a platform is one folder; a description imports only the form of a setting.
 */
export const OPEN_FILES: Readonly<Record<string, RegExp>> = {
  'bot/platforms/registry.ts': /^bot\/(config|metrics)\//,
  'bot/platforms/description.ts': /^bot\/config\//,
  'bot/config/setting.ts': /^bot\/platforms\/\w+\/description\.ts$/,
  'bot/config/setting-kinds.ts': /^bot\/platforms\/\w+\/description\.ts$/,
};

/** Packages that are restricted to certain modules, so that each can be replaced in one place. */
export const PACKAGE_MODULES: Readonly<Record<string, readonly string[]>> = {
  bullmq: ['bot/queue'],
  '@opentelemetry/api': ['shared'],
  '@opentelemetry/exporter-trace-otlp-proto': ['shared'],
  '@opentelemetry/resources': ['shared'],
  '@opentelemetry/sdk-trace-base': ['shared'],
  undici: ['shared', 'bot/model', 'bot/platforms', 'service'],
  htmlparser2: ['bot/knowledge'],
  yaml: ['cli', 'bot/knowledge'],
  '@mozilla/readability': ['bot/tools'],
  linkedom: ['bot/tools'],
  dotenv: ['bot/config'],
  'openid-client': ['shared'],
  saxes: ['bot/knowledge', 'shared'],
  '@embedpdf/pdfium': ['bot/knowledge'],
  preact: ['simulator'],
  '@lezer/common': ['bot/platforms'],
  '@lezer/markdown': ['bot/platforms'],
};

/** Maximum lines of a source file. */
export const MAX_FILE_LINES = 600;

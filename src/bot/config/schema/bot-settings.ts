import { optional, secret, setting } from '../setting.ts';
import { MASK_KINDS } from '../../domain/mask-kinds.ts';
import * as kinds from '../setting-kinds.ts';

const name = kinds.textLike(/^[\w.:/@-]+$/, 'must be a name without spaces');

/** The chat service that answers. */
export const chatSettings = {
  CHAT_BASE_URL: optional(kinds.webAddress, {
    meaning: 'Address of the chat interface, ending in /v1.',
    default: 'the embedded service in local mode; required otherwise',
    example: 'https://chat.example.org/v1',
    level: 'first',
  }),
  CHAT_API_KEY: secret(kinds.text, { meaning: 'API key for the chat interface.', level: 'first' }),
  CHAT_MODELS: optional(kinds.listOf(name, 'model names'), {
    meaning: 'Models that people can choose, comma-separated.',
    default: 'the chat models that CHAT_BASE_URL lists; svc-plus,svc-max in local mode',
    example: 'svc-plus,svc-max',
    level: 'first',
  }),
  CHAT_MODEL: optional(name, {
    meaning: 'Model for people who have not chosen one.',
    default: 'the first of CHAT_MODELS, or of MODELS_FILE',
    example: 'svc-plus',
    level: 'common',
  }),
  MODELS_FILE: setting(
    kinds.text,
    'config/models.json',
    "File with each model's capabilities and request options, for bot and service.",
    'common',
  ),
  MODELS_SECRET: secret(kinds.textLike(/^[\x21-\x7e]{1,1000}$/, 'must be ASCII text without spaces'), {
    meaning: 'Value of `{secret}` in the `headers` of MODELS_FILE.',
  }),
  CHAT_SEND_USER: setting(kinds.yesOrNo, 'no', '`yes` sends a pseudonym of the account to the chat service as `user`.'),
  CHAT_FALLBACK_MODEL: optional(name, {
    meaning: 'Model of CHAT_MODELS used when the selected one is unavailable, if the person may use it.',
    default: 'none; people are asked to try again',
    example: 'svc-max',
    level: 'common',
  }),
  CHAT_SYSTEM_PROMPT_FILE: setting(kinds.text, 'config/system-prompt.md', 'File with the system prompt.', 'common'),
  CHAT_PROMPT_TOKENS: optional(kinds.wholeNumber(1_000, 10_000_000), {
    meaning: 'Approximate maximum tokens of a prompt, with at most the newest 50 turns.',
    default: '24000; with files, what `contextTokens` in MODELS_FILE allows',
    example: '24000',
    level: 'common',
  }),
  THINKING_SHOWN: setting(
    kinds.oneOf('private', 'never', 'everywhere'),
    'private',
    "Where the model's reasoning is shown: `private` (private chats), `everywhere` or `never`.",
    'common',
  ),
  MODERATION_WORDS_FILE: setting(
    kinds.text,
    'config/moderation-words.txt',
    'File with words, one per line, that no question may contain and no answer shows.',
    'common',
  ),
  MODERATION_URL: optional(kinds.webAddress, {
    meaning:
      'Moderation service that gets `POST {"text","kind"}` (`prompt` or `answer`) and answers `{"allow":boolean}` within 3 s.',
    default: 'none',
    example: 'https://moderation.example.org/check',
  }),
  MODERATION_AWAY: setting(
    kinds.oneOf('block', 'allow'),
    'block',
    'Whether to `block` or `allow` texts while MODERATION_URL does not answer.',
  ),
  MODERATION_MASK: optional(kinds.listOfWords(...MASK_KINDS), {
    meaning:
      'What is masked, comma-separated: `id-number` (Chinese ID numbers), `phone` (mainland phone numbers), `card` (payment cards), `email`.',
    default: 'nothing',
    example: 'id-number,phone,card',
  }),
  MODERATION_MASK_IN: setting(
    kinds.oneOf('both', 'prompts', 'answers'),
    'both',
    'Where MODERATION_MASK applies: `prompts`, `answers` or `both`.',
  ),
  PROMPTS_FILE: setting(kinds.text, 'config/prompts.json', 'File with suggested questions by language.', 'common'),
  POLICY_FILE: setting(
    kinds.text,
    'config/policy.json',
    'File that defines who may use the bot, with which models and where.',
    'common',
  ),
  SCENES_FILE: setting(
    kinds.text,
    'config/scenes.json',
    'File with instructions, models, tools and more per group, department or platform.',
    'common',
  ),
  TOOLS_FILE: setting(
    kinds.text,
    'config/tools.json',
    'File with the tools that the model may call, for whom and where.',
    'common',
  ),
  KNOWLEDGE_FILE: setting(
    kinds.text,
    'config/knowledge.json',
    "File with the institution's document sources and their readers.",
    'common',
  ),
  WEB_SEARCH_URL: optional(kinds.webAddress, {
    meaning: 'SearXNG instance for the tool `web_search`. Its `search.formats` must include json.',
    default: 'none',
    example: 'https://searxng.example.org',
    level: 'common',
  }),
  WEB_SEARCH_BRAVE_KEY: secret(kinds.textLike(/^[\x21-\x7e]{8,256}$/, 'must be a key of the Brave Search API'), {
    meaning: 'Key of the Brave Search API, instead of SearXNG.',
    level: 'common',
  }),
  TIME_ZONE: optional(kinds.timeZone, {
    meaning: "The institution's IANA time zone, for prompts, `current_time`, `/export` and `/usage`.",
    default: 'that of the process',
    example: 'Asia/Shanghai',
    level: 'common',
  }),
  DEFAULT_LANGUAGE: setting(
    kinds.oneOf('zh', 'en'),
    'zh',
    'Language for people whose language is unknown: `zh` or `en`.',
    'common',
  ),
  GROUP_SCOPE: setting(
    kinds.oneOf('member', 'group'),
    'member',
    'Conversation of a mention in a group: `member` (one per person) or `group` (one for all).',
    'common',
  ),
  THREAD_FOLLOW: setting(
    kinds.yesOrNo,
    'no',
    '`yes`: replies in an answered Slack thread need no mention for three days.',
    'common',
  ),
  REPLY_MIN_EDIT_MS: optional(kinds.wholeNumber(0, 60_000), {
    meaning: 'Minimum milliseconds between two edits of a reply.',
    default: 'limit of the platform',
    example: '1000',
  }),
};

/** How people sign in. */
export const signInSettings = {
  SIGN_IN: setting(
    kinds.oneOf('required', 'optional', 'off'),
    'required',
    "`required`, `optional`, or `off` (the platform's user id is the account).",
    'common',
  ),
  SIGN_IN_TYPE: setting(
    kinds.oneOf('oauth2', 'oidc', 'cas'),
    'oauth2',
    'Protocol of the sign-in service: `oauth2` (with /oauth2.0/authorize), `oidc` (OpenID Connect) or `cas`.',
    'first',
  ),
  SIGN_IN_URL: optional(kinds.issuerAddress, {
    meaning:
      "Address of the sign-in service: the base before /oauth2.0/authorize (`oauth2`), the exact issuer (`oidc`) or the server's base (`cas`).",
    default: 'the embedded service in local mode; required otherwise unless SIGN_IN=off',
    example: 'https://sign-in.example.org',
    level: 'first',
  }),
  SIGN_IN_CLIENT_ID: optional(name, {
    meaning: "Parley's client id. Not used with `cas`.",
    example: 'parley',
    level: 'first',
  }),
  SIGN_IN_CLIENT_SECRET: secret(kinds.text, {
    meaning: "Parley's client secret.",
    level: 'first',
  }),
  SIGN_IN_CLIENT_AUTH: setting(
    kinds.oneOf('auto', 'client_secret_basic', 'client_secret_basic_raw', 'client_secret_post'),
    'auto',
    'How the client secret is sent: `client_secret_post`, `client_secret_basic`, `client_secret_basic_raw` (not form-encoded) or `auto` (`oauth2`: post; `oidc`: basic if supported).',
  ),
  SIGN_IN_SCOPE: optional(kinds.text, {
    meaning: 'Requested scope. With `oidc`, some providers require `offline_access` for refresh tokens.',
    default: '`SVC-Basic`; with `oidc` `openid profile`',
    example: 'openid profile offline_access',
    level: 'common',
  }),
  SIGN_IN_PROFILE_MAP_FILE: optional(kinds.text, {
    meaning:
      'JSON file that maps claims or attributes to profile fields. Required with `oauth2` if their names are not `id`, `active` and `client_id`.',
    default: 'the standard names',
    example: 'config/profile-map.json',
    level: 'common',
  }),
  SIGN_IN_STATE: setting(
    kinds.oneOf('required', 'absent'),
    'required',
    'Whether the service returns `state`: `required`, or `absent` if it does not.',
  ),
  SIGN_IN_PROOF: optional(kinds.proofSetting, {
    meaning:
      "Proof that the chat user is the signed-in person: `same-browser` (the platform's web sign-in), `same-id` (equal ids), both, comma-separated, or `typed-code` (the weakest). Per platform: `wecom:same-browser,slack:same-id`; several joined by `+`.",
    default: 'same-browser if web sign-in is configured for every platform; required otherwise',
    example: 'same-browser,same-id',
    level: 'common',
  }),
  SIGN_IN_SAME_ID_RULE: setting(
    kinds.sameIdRule,
    'field=id;prefix=;case=exact',
    "How `same-id` compares: profile `field` (`id` or `attributes.NAME`), its `prefix` in the platform's user id, and `case` (`exact` or `ignore`).",
    'common',
  ),
  SIGN_IN_IDENTITY_CODES: optional(kinds.listOf(kinds.text, 'identity codes such as JG,XS'), {
    meaning: 'Identity types whose members may sign in, such as `JG,XS`.',
    default: 'all',
    example: 'JG,XS',
    level: 'common',
  }),
  SIGN_IN_EXPIRES_UNIT: setting(
    kinds.oneOf('auto', 'seconds', 'milliseconds'),
    'auto',
    'Unit of `expires_in`: `seconds`, `milliseconds` or `auto`.',
  ),
  SIGN_IN_KEEP_TOKENS: setting(
    kinds.oneOf('refresh', 'none', 'both'),
    'refresh',
    'Tokens kept after linking: `none`, `refresh` (for the daily check) or `both`.',
  ),
  SIGN_IN_LINK_DAYS: setting(
    kinds.wholeNumber(1, 30),
    '30',
    'Days until people must sign in again with `cas` or without a refresh token. Lower it if account ids are reassigned.',
  ),
  SIGN_IN_SERVICE_NAME: optional(kinds.text, {
    meaning: "The institution's name on the sign-in pages.",
    default: 'the host of SIGN_IN_URL',
    example: 'Example University',
    level: 'common',
  }),
  SIGN_IN_HELP_URL: optional(kinds.helpAddress, {
    meaning: 'https or mailto address of the help desk.',
    example: 'mailto:help@example.org',
    level: 'common',
  }),
};

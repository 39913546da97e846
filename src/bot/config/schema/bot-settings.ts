import { optional, secret, setting } from '../setting.ts';
import * as kinds from '../setting-kinds.ts';

const name = kinds.textLike(/^[\w.:/@-]+$/, 'must be a name without spaces');

/** The chat service that answers. */
export const chatSettings = {
  CHAT_BASE_URL: optional(kinds.webAddress, {
    meaning: "The chat interface's address, ending in /v1.",
    default: 'the embedded service in local mode; required otherwise',
    example: 'https://chat.example.org/v1',
  }),
  CHAT_API_KEY: secret(kinds.text, { meaning: "The institution's key for the chat interface." }),
  CHAT_MODELS: setting(
    kinds.listOf(name, 'model names'),
    'svc-plus,svc-max',
    'Models that people may choose from, comma-separated.',
  ),
  CHAT_MODEL: optional(name, {
    meaning: 'The model that answers unless a person chose another.',
    default: 'the first of CHAT_MODELS',
    example: 'svc-plus',
  }),
  MODELS_FILE: setting(
    kinds.text,
    'config/models.json',
    'File that says what each model can do (images, tools, thinking), how it is asked and what its engine refuses. Used by the bot and by the service. Read at start and at SIGHUP.',
  ),
  CHAT_SEND_USER: setting(
    kinds.yesOrNo,
    'no',
    'Whether the chat service is told on whose behalf it is asked: `yes` sends a pseudonym of the account as `user`.',
  ),
  CHAT_FALLBACK_MODEL: optional(name, {
    meaning:
      'The model, one of CHAT_MODELS, that answers when the one that should is away. Asked only for people who may use it, and for images only if it can see.',
    default: 'none: the person is asked to try again',
    example: 'svc-max',
  }),
  CHAT_SYSTEM_PROMPT_FILE: setting(
    kinds.text,
    'config/system-prompt.md',
    'File with the instructions that the model gets first.',
  ),
  CHAT_PROMPT_TOKENS: setting(
    kinds.wholeNumber(1_000, 10_000_000),
    '24000',
    'Tokens that a prompt may take, about: older parts of a conversation are left out of it. Less where the service says that it was too long.',
  ),
  THINKING_SHOWN: setting(
    kinds.oneOf('private', 'never', 'everywhere'),
    'private',
    'Where somebody who chose `/think` reads what the model thinks: `private` (in private chats only), `everywhere`, or `never`. It is not kept in the conversation.',
  ),
  PROMPTS_FILE: setting(
    kinds.text,
    'config/prompts.json',
    'File with the questions that are offered to somebody who opens the chat, by language; empty lists offer none. Read at start and at SIGHUP.',
  ),
  POLICY_FILE: setting(
    kinds.text,
    'config/policy.json',
    'File with the rules about who may use the bot, with which models, privately and in which groups. Read at start and at SIGHUP.',
  ),
  SCENES_FILE: setting(
    kinds.text,
    'config/scenes.json',
    'File with scenes: what a group, a department or a platform has for itself, such as instructions, models, tools and a welcome. An empty list has none. Read at start and at SIGHUP.',
  ),
  TOOLS_FILE: setting(
    kinds.text,
    'config/tools.json',
    'File that says which tools the model may call, for whom and in which chats. Read at start and at SIGHUP.',
  ),
  KNOWLEDGE_FILE: setting(
    kinds.text,
    'config/knowledge.json',
    "File that says from where the institution's documents come and who may read them (docs/KNOWLEDGE.md). Without that file there are none. Read at start and at SIGHUP.",
  ),
  WEB_SEARCH_URL: optional(kinds.webAddress, {
    meaning: 'Address of a SearXNG (its `search.formats` must hold json), by which the tool `web_search` finds pages.',
    default: 'none; without it and WEB_SEARCH_BRAVE_KEY there is no web search',
    example: 'https://searxng.example.org',
  }),
  WEB_SEARCH_BRAVE_KEY: secret(kinds.textLike(/^[\x21-\x7e]{8,256}$/, 'must be a key of the Brave Search API'), {
    meaning: 'A key of the Brave Search API, used instead of a SearXNG.',
  }),
  TIME_ZONE: optional(kinds.timeZone, {
    meaning:
      "The institution's time zone, an IANA name: the date that the model is told, `current_time`, the times in `/export` and the days of `/usage`.",
    default: "the process's time zone (`TZ`, else the machine's)",
    example: 'Asia/Shanghai',
  }),
  GROUP_SCOPE: setting(
    kinds.oneOf('member', 'group'),
    'member',
    'Whose conversation a mention in a group joins: `member` (each person has their own) or `group`. A thread is always its own.',
  ),
  THREAD_FOLLOW: setting(
    kinds.yesOrNo,
    'no',
    '`yes`: a Slack thread in which the bot has answered may go on without naming it, for three days after its last answer; a message that names somebody else is not taken. `no`: the bot reads nothing in a channel that does not name it.',
  ),
  REPLY_MIN_EDIT_MS: optional(kinds.wholeNumber(0, 60_000), {
    meaning: 'Least milliseconds between two edits of one reply.',
    default: 'what the platform allows',
    example: '1000',
  }),
};

/** How people sign in. */
export const signInSettings = {
  SIGN_IN: setting(
    kinds.oneOf('required', 'optional', 'off'),
    'required',
    "`required`, `optional`, or `off` (then the platform's user id is the account).",
  ),
  SIGN_IN_TYPE: setting(
    kinds.oneOf('oauth2', 'oidc', 'cas'),
    'oauth2',
    'What the sign-in service speaks: `oauth2` (the interface with /oauth2.0/authorize), `oidc` (OpenID Connect) or `cas`.',
  ),
  SIGN_IN_URL: optional(kinds.issuerAddress, {
    meaning:
      "The sign-in service's address: with `oauth2` the one to which /oauth2.0/authorize is added, with `oidc` the issuer, letter by letter, with `cas` the server's base.",
    default: 'the embedded service in local mode; required otherwise unless SIGN_IN=off',
    example: 'https://sign-in.example.org',
  }),
  SIGN_IN_CLIENT_ID: optional(name, {
    meaning: "Parley's client id at the sign-in service; none with `cas`.",
    example: 'parley',
  }),
  SIGN_IN_CLIENT_SECRET: secret(kinds.text, { meaning: "Parley's client secret at the sign-in service." }),
  SIGN_IN_CLIENT_AUTH: setting(
    kinds.oneOf('auto', 'client_secret_basic', 'client_secret_basic_raw', 'client_secret_post'),
    'auto',
    'How the client secret is sent: `client_secret_post` (in the form), `client_secret_basic` (HTTP Basic, form-encoded as the standard says), `client_secret_basic_raw` (HTTP Basic without that encoding, for providers that do not decode it), or `auto`: with `oauth2` in the form, with `oidc` by Basic where the provider offers it. `npm run check` names the one that works.',
  ),
  SIGN_IN_SCOPE: optional(kinds.text, {
    meaning:
      'Scope that is asked for. With `oidc`, add `offline_access` where the provider needs it for refresh tokens.',
    default: '`SVC-Basic`; with `oidc` `openid profile`',
    example: 'openid profile offline_access',
  }),
  SIGN_IN_PROFILE_MAP_FILE: optional(kinds.text, {
    meaning:
      "JSON file that says which of the institution's claims or attributes gives which part of a profile. With `oauth2` it stands for a profile of other names than `id`, `active` and `client_id`.",
    default: 'the usual names',
    example: 'config/profile-map.json',
  }),
  SIGN_IN_STATE: setting(
    kinds.oneOf('required', 'absent'),
    'required',
    'Whether the service returns `state`: `required`, or `absent` where it was seen not to.',
  ),
  SIGN_IN_PROOF: optional(kinds.proofSetting, {
    meaning:
      "How it is shown that the chat user and the signed-in person are one: `same-browser` (the platform's own web sign-in first), `same-id` (ids are equal), or both, comma-separated; or `typed-code` (the person types a code from the page into the chat), alone, only where the others are impossible. Each platform may have its own: `wecom:same-browser,slack:same-id`, several for one joined by `+`.",
    default:
      'same-browser if the web sign-in of every platform that is on is set up (WECOM_CORP_ID, WECOM_AGENT_ID and WECOM_AGENT_SECRET; SLACK_CLIENT_ID and SLACK_CLIENT_SECRET); else it must be chosen',
    example: 'same-browser,same-id',
  }),
  SIGN_IN_SAME_ID_RULE: setting(
    kinds.sameIdRule,
    'field=id;prefix=;case=exact',
    "What `same-id` compares with the platform's user id: the field (`id` or `attributes.NAME`) of the profile, a prefix before it, and case `exact` or `ignore`.",
  ),
  SIGN_IN_IDENTITY_CODES: optional(kinds.listOf(kinds.text, 'identity codes such as JG,XS'), {
    meaning: 'Identity types that may link, such as `JG,XS`.',
    default: 'all',
    example: 'JG,XS',
  }),
  SIGN_IN_EXPIRES_UNIT: setting(
    kinds.oneOf('auto', 'seconds', 'milliseconds'),
    'auto',
    'Unit of `expires_in` in the token response: `seconds`, `milliseconds` or `auto`.',
  ),
  SIGN_IN_KEEP_TOKENS: setting(
    kinds.oneOf('refresh', 'none', 'both'),
    'refresh',
    'What is kept after linking: `none`, `refresh` (for the daily check that the account is active) or `both`.',
  ),
  SIGN_IN_LINK_DAYS: setting(
    kinds.wholeNumber(1, 30),
    '30',
    'Days after which people sign in again where the account cannot be checked daily: with `cas`, and wherever no refresh token is kept. Until then a number that was given to somebody else still counts as the person who signed in.',
  ),
  SIGN_IN_SERVICE_NAME: optional(kinds.text, {
    meaning: "The institution's name on the sign-in pages.",
    default: 'the host of SIGN_IN_URL',
    example: 'Example University',
  }),
  SIGN_IN_HELP_URL: optional(kinds.helpAddress, {
    meaning: "The help desk's https or mailto address on the pages that only people can help with.",
    example: 'mailto:help@example.org',
  }),
};

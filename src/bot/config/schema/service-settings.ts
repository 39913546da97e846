import { YEAR_SEC } from '../../../shared/clock.ts';
import { optional, secret, setting } from '../setting.ts';
import * as kinds from '../setting-kinds.ts';

/** The reference chat and sign-in service: embedded in local mode, alone with `ROLES=service`. */
export const serviceSettings = {
  SERVICE_API_KEYS: secret(kinds.listOf(kinds.text, 'keys'), {
    meaning: 'Keys that its chat interface accepts, comma-separated; in local mode the bot uses the first.',
    default:
      'in local mode or without REDIS_URL or SECRET_KEY one that is made, printed at the first start and kept in DATA_DIR/keys.json; none otherwise',
  }),
  SERVICE_PUBLIC_URL: optional(kinds.publicOrigin, {
    meaning: "How browsers reach it where it runs alone and PUBLIC_URL in the same file is the bot's.",
    default: 'PUBLIC_URL',
    example: 'https://service.example.org',
  }),
  SERVICE_CLIENTS_FILE: optional(kinds.text, {
    meaning: 'JSON file of its OAuth clients.',
    default: 'the bot alone in local mode; none otherwise',
    example: 'config/clients.json',
  }),
  SERVICE_DIRECTORY_FILE: optional(kinds.text, {
    meaning: 'JSON file of the people who can sign in.',
    default: 'config/people.json in local mode; nobody otherwise',
    example: 'config/people.json',
  }),
  SERVICE_OIDC_ISSUER: optional(kinds.issuerAddress, {
    meaning:
      "The institution's OpenID Connect provider, letter by letter as it writes its own name; people then sign in there.",
    default: 'the directory alone',
    example: 'https://id.example.edu/realms/campus',
  }),
  SERVICE_OIDC_CLIENT_ID: optional(kinds.text, { meaning: 'What the provider knows the service as.' }),
  SERVICE_OIDC_CLIENT_SECRET: secret(kinds.text, { meaning: "The service's secret at the provider." }),
  SERVICE_OIDC_CLIENT_AUTH: setting(
    kinds.oneOf('auto', 'client_secret_basic', 'client_secret_basic_raw', 'client_secret_post'),
    'auto',
    'How that secret is sent, as SIGN_IN_CLIENT_AUTH has it.',
  ),
  SERVICE_OIDC_SCOPE: optional(kinds.oidcScope, {
    meaning: 'What the provider is asked for, space-separated.',
    default: 'openid and profile',
    example: 'openid profile email',
  }),
  SERVICE_CAS_URL: optional(kinds.webAddress, {
    meaning: "The institution's CAS server, instead of OpenID Connect.",
    default: 'the directory alone',
    example: 'https://cas.example.edu/cas',
  }),
  SERVICE_PROFILE_MAP_FILE: optional(kinds.text, {
    meaning: "JSON file that says which of the institution's claims or attributes gives which part of a profile.",
    default: 'the usual names',
    example: 'config/profile-map.json',
  }),
  SERVICE_IDENTITY_NAME: optional(kinds.text, {
    meaning: "What the button calls the institution's sign-in.",
    default: 'your institution',
    example: '统一身份认证',
  }),
  SERVICE_UPSTREAM_URL: optional(kinds.webAddress, {
    meaning: 'OpenAI-compatible engine that answers in its place.',
    default: 'a small built-in model that says so',
    example: 'http://127.0.0.1:11434/v1',
  }),
  SERVICE_UPSTREAM_KEY: secret(kinds.text, { meaning: "The engine's key." }),
  SERVICE_UPSTREAM_MODELS: optional(kinds.pairs, {
    meaning: "Which of the engine's models answers for which of ours.",
    default: 'the same names',
    example: 'svc-plus=qwen3:8b,svc-max=qwen3:32b',
  }),
  SERVICE_RELAYED_FIELDS: optional(kinds.listOf(kinds.text, 'field names'), {
    meaning: 'Further request fields that are relayed to the engine, comma-separated.',
    default: 'the standard fields only',
    example: 'guided_json,min_tokens',
  }),
  SERVICE_IMAGE_ADDRESSES: setting(
    kinds.yesOrNo,
    'no',
    'Whether requests may contain http and https addresses of images, which the engine fetches from its own network.',
  ),
  SERVICE_ACCESS_TOKEN_SEC: setting(kinds.wholeNumber(1, YEAR_SEC), '7200', 'Life of an access token, in seconds.'),
  SERVICE_REFRESH_TOKEN_SEC: setting(
    kinds.wholeNumber(1, YEAR_SEC),
    String(30 * 24 * 60 * 60),
    'Life of a refresh token, in seconds.',
  ),
};

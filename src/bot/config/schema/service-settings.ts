import { YEAR_SEC } from '../../../shared/clock.ts';
import { optional, secret, setting } from '../setting.ts';
import * as kinds from '../setting-kinds.ts';

/** The reference chat and sign-in service: embedded in local mode, alone with `ROLES=service`. */
export const serviceSettings = {
  SERVICE_API_KEYS: secret(kinds.listOf(kinds.text, 'keys'), {
    meaning: 'API keys of the chat interface, comma-separated. In local mode the bot uses the first.',
    default: 'a generated key in DATA_DIR/keys.json, in local mode or without REDIS_URL or SECRET_KEY; none otherwise',
    level: 'common',
  }),
  SERVICE_PUBLIC_URL: optional(kinds.publicOrigin, {
    meaning: "Address of the service for browsers, if PUBLIC_URL is the bot's.",
    default: 'PUBLIC_URL',
    example: 'https://service.example.org',
  }),
  SERVICE_CLIENTS_FILE: optional(kinds.text, {
    meaning: 'JSON file with the OAuth clients.',
    default: 'the bot only in local mode; none otherwise',
    example: 'config/clients.json',
    level: 'common',
  }),
  SERVICE_DIRECTORY_FILE: optional(kinds.text, {
    meaning: 'JSON file with the people who can sign in.',
    default: 'in local mode config/people.json or examples/people.json; none otherwise',
    example: 'config/people.json',
    level: 'common',
  }),
  SERVICE_OIDC_ISSUER: optional(kinds.issuerAddress, {
    meaning: "Exact issuer of the institution's OpenID Connect provider.",
    default: 'people sign in with the directory',
    example: 'https://id.example.edu/realms/campus',
    level: 'common',
  }),
  SERVICE_OIDC_CLIENT_ID: optional(kinds.text, {
    meaning: "The service's client id at the provider.",
    level: 'common',
  }),
  SERVICE_OIDC_CLIENT_SECRET: secret(kinds.text, {
    meaning: "The service's client secret at the provider.",
    level: 'common',
  }),
  SERVICE_OIDC_CLIENT_AUTH: setting(
    kinds.oneOf('auto', 'client_secret_basic', 'client_secret_basic_raw', 'client_secret_post'),
    'auto',
    'How SERVICE_OIDC_CLIENT_SECRET is sent, as in SIGN_IN_CLIENT_AUTH.',
  ),
  SERVICE_OIDC_SCOPE: optional(kinds.oidcScope, {
    meaning: 'Requested scopes, space-separated.',
    default: 'openid and profile',
    example: 'openid profile email',
  }),
  SERVICE_CAS_URL: optional(kinds.webAddress, {
    meaning: "The institution's CAS server, instead of OpenID Connect.",
    default: 'people sign in with the directory',
    example: 'https://cas.example.edu/cas',
    level: 'common',
  }),
  SERVICE_PROFILE_MAP_FILE: optional(kinds.text, {
    meaning: 'JSON file that maps claims or attributes to profile fields.',
    default: 'the standard names',
    example: 'config/profile-map.json',
  }),
  SERVICE_IDENTITY_NAME: optional(kinds.text, {
    meaning: "Name of the institution's sign-in on the button.",
    default: 'your institution',
    example: '统一身份认证',
  }),
  SERVICE_UPSTREAM_URL: optional(kinds.webAddress, {
    meaning: 'OpenAI-compatible engine that replaces the built-in model.',
    default: 'a small built-in model',
    example: 'http://127.0.0.1:11434/v1',
    level: 'common',
  }),
  SERVICE_UPSTREAM_KEY: secret(kinds.text, { meaning: 'API key of the engine.', level: 'common' }),
  SERVICE_UPSTREAM_MODELS: optional(kinds.pairs, {
    meaning: 'Engine model for each model name of the service.',
    default: 'the same names',
    example: 'svc-plus=qwen3:8b,svc-max=qwen3:32b',
    level: 'common',
  }),
  SERVICE_RELAYED_FIELDS: optional(kinds.listOf(kinds.text, 'field names'), {
    meaning: 'Additional request fields relayed to the engine, comma-separated.',
    default: 'the standard fields only',
    example: 'guided_json,min_tokens',
  }),
  SERVICE_IMAGE_ADDRESSES: setting(
    kinds.yesOrNo,
    'no',
    'Whether requests may contain image addresses, which the engine fetches.',
  ),
  SERVICE_ACCESS_TOKEN_SEC: setting(kinds.wholeNumber(1, YEAR_SEC), '7200', 'Lifetime of access tokens, in seconds.'),
  SERVICE_REFRESH_TOKEN_SEC: setting(
    kinds.wholeNumber(1, YEAR_SEC),
    String(30 * 24 * 60 * 60),
    'Lifetime of refresh tokens, in seconds.',
  ),
};

import { PLATFORMS } from '../platforms/registry.ts';
import { fault, type Fault } from './fault.ts';
import {
  BOT_CREDENTIALS,
  credentialsOf,
  EMBEDDED_MODELS,
  isListed,
  simulatedPlatform,
  isServiceAlone,
  SERVICE_OIDC_CREDENTIALS,
  type Given,
  type Mode,
  type Role,
} from './mode.ts';
import type { SettingName, Settings } from './schema.ts';
import { hasVersion, isLoopback, type ProofSetting } from './setting-kinds.ts';
import type { SignInProof } from './config.ts';
import type { PlatformDescription } from '../platforms/description.ts';

/** Input of the checks. Invalid settings are absent from `settings` but present in `given`. */
export interface ValidatedSettings {
  settings: Settings;
  given: Given;
  mode: Mode;
  roles: readonly Role[];
  /** Whether `NODE_ENV` is `production`, as in the image. */
  isProduction: boolean;
}

type Check = (judged: ValidatedSettings) => Fault[];

const PLATFORM_CREDENTIALS = PLATFORMS.map(({ credentials }) => credentials.join(' and ')).join(', or ');

/**
 * Rules between several settings. All checks run, so that every fault is reported at once (SECURITY.md checked-at-start).
 */
const CHECKS: readonly Check[] = [
  checkLocalModeIntended,
  requiredWhenServing,
  signInCredentials,
  signInDialect,
  connectionChosen,
  neededBeside,
  completeCredentials,
  oneInstitution,
  oneWebSearch,
  proofOfPerson,
  chatAddressAlone,
  namedModels,
  softBelowHard,
  distinctPorts,
  administratorsSignIn,
  localOnlyRoles,
  onePortAlone,
  sentinelNeedsAddress,
];

export function crossCheck(judged: ValidatedSettings): Fault[] {
  return CHECKS.flatMap((check) => check(judged));
}

/** Warns of settings that work but may not be intended. */
export function crossWarnings({ settings, given, mode, roles }: ValidatedSettings): string[] {
  if (isServiceAlone(roles)) return warningsAlone(given);
  const warnings: string[] = [];
  if (given.has('CHAT_BASE_URL') && !given.has('CHAT_API_KEY'))
    warnings.push('CHAT_API_KEY is not set: the chat service is called without a key');
  if (settings.CHAT_BASE_URL && !hasVersion(settings.CHAT_BASE_URL))
    warnings.push('CHAT_BASE_URL does not end in a version such as /v1: check the address');
  const models = settings.CHAT_MODELS ?? (isListed({ given, roles }) ? [] : EMBEDDED_MODELS);
  const usual = settings.CHAT_MODEL ?? models[0];
  if (usual !== undefined && settings.CHAT_FALLBACK_MODEL === usual)
    warnings.push('CHAT_FALLBACK_MODEL is the default model, so there is no fallback: set another model');
  if (settings.SIGN_IN !== 'off' && namesProof(settings, 'typed-code')) {
    warnings.push(
      'SIGN_IN_PROOF is typed-code: an attacker who persuades a person to share their code is signed in as them; use same-browser or same-id if possible',
    );
  }
  if (mode === 'local') return warnings;
  if (!given.has('PUBLIC_URL')) warnings.push('PUBLIC_URL is not set: links sent to people work only on this machine');
  const set: ReadonlySet<string> = given;
  if (!PLATFORMS.some((platform) => set.has(credentialsOf(platform, settings)[0])))
    warnings.push(`No platform is configured: set ${PLATFORM_CREDENTIALS}`);
  warnings.push(...adviceOfPlatforms(settings, given));
  if (settings.REDIS_ALLOW_DATA_LOSS) warnings.push('REDIS_ALLOW_DATA_LOSS is yes: accepted messages can be lost');
  return warnings;
}

function adviceOfPlatforms(settings: Settings, given: ReadonlySet<string>): string[] {
  return PLATFORMS.flatMap((platform) => {
    if (!('advice' in platform) || !given.has(credentialsOf(platform, settings)[0])) return [];
    return Object.entries(platform.advice).flatMap(([name, sentence]) => (given.has(name) ? [] : [sentence]));
  });
}

/** The service alone often reads a file that was written for a bot. */
function warningsAlone(given: Given): string[] {
  const isBotsFile = BOT_CREDENTIALS.flat().some((name) => given.has(name)) && given.has('PUBLIC_URL');
  if (!isBotsFile || given.has('SERVICE_PUBLIC_URL')) return [];
  return ["SERVICE_PUBLIC_URL is not set: pages link to PUBLIC_URL, which is the bot's address"];
}

/**
 * Settings for real people without a platform are probably incomplete: the built-in model is not meant to answer these
 * people. `MESSENGER_PROTOCOL`, which is used in local mode only, confirms local mode.
 */
function checkLocalModeIntended({ settings, given, mode, isProduction }: ValidatedSettings): Fault[] {
  if (mode !== 'local' || given.has('MESSENGER_PROTOCOL')) return [];
  const isElsewhere = (name: 'PUBLIC_URL' | 'CHAT_BASE_URL') =>
    settings[name] !== undefined && !isLoopback(new URL(settings[name]).hostname);
  const found = (['PUBLIC_URL', 'CHAT_BASE_URL'] as const).filter(isElsewhere);
  const signs = [
    ...found.map((name) => `${name} leads to another machine`),
    ...(isProduction ? ['NODE_ENV is production'] : []),
  ];
  const [first, ...others] = signs;
  if (first === undefined) return [];
  const whole = [first, ...others].join(' and ');
  const orRemove = found.length > 0 && !isProduction ? `, or remove ${found.join(' and ')}` : '';
  const setting = first.split(' ')[0] ?? '';
  return [
    fault(
      setting,
      `${whole.slice(setting.length + 1)}, but no platform is configured. Set ${PLATFORM_CREDENTIALS}; for local mode set MESSENGER_PROTOCOL=wecom${orRemove}`,
    ),
  ];
}

const MISSING = 'is missing: ';

function missing(name: SettingName, why: string): Fault {
  return fault(name, MISSING + why);
}

/**
 * If only names without a value indicate a deployment for real people, its missing settings follow from those names. They
 * are reported in one line, so that the empty names stand out.
 */
export function mergeMissingSettings(faults: readonly Fault[], forgotten: readonly string[]): Fault[] {
  const isLacking = ({ setting, message }: Fault) =>
    message.startsWith(`${setting} ${MISSING}`) && !forgotten.includes(setting);
  const lacking = faults.filter(isLacking).map(({ setting }) => setting);
  const [first] = lacking;
  if (first === undefined || lacking.length < 2) return [...faults];
  const lines = `remove the empty ${forgotten.length === 1 ? 'line' : 'lines'}`;
  const whole = `${lacking
    .slice(1)
    .map((name) => `, ${name}`)
    .join('')} are required too, because a platform is configured; for local mode ${lines}`;
  const rest = faults.filter((found) => !isLacking(found));
  return [...rest, { setting: first, message: first + whole }];
}

function requiredWhenServing({ settings, given, mode, roles }: ValidatedSettings): Fault[] {
  if (mode === 'local' || isServiceAlone(roles)) return [];
  const required: [SettingName, string][] = [
    ['CHAT_BASE_URL', "set it to the chat service's address, ending in /v1"],
    ['REDIS_URL', 'set it to the address of a Redis, such as redis://127.0.0.1:6379'],
    ['SECRET_KEY', 'create one with: openssl rand -base64 32'],
  ];
  if (settings.SIGN_IN !== 'off')
    required.push(['SIGN_IN_URL', "set it to the sign-in service's address, or SIGN_IN to off"]);
  return required.filter(([name]) => !given.has(name)).map(([name, why]) => missing(name, why));
}

function signInCredentials({ settings, given, roles }: ValidatedSettings): Fault[] {
  if (settings.SIGN_IN === 'off' || !given.has('SIGN_IN_URL') || isServiceAlone(roles)) return [];
  if (settings.SIGN_IN_TYPE === 'cas') return [];
  const names = ['SIGN_IN_CLIENT_ID', 'SIGN_IN_CLIENT_SECRET'] as const;
  return names
    .filter((name) => !given.has(name))
    .map((name) => missing(name, 'set it to the value issued by the sign-in service at SIGN_IN_URL'));
}

/**
 * Each dialect requires some settings and ignores others. A setting that would be ignored is a fault, because it was set for
 * a reason.
 */
function signInDialect({ settings, given, roles }: ValidatedSettings): Fault[] {
  const { SIGN_IN_TYPE: type, SIGN_IN_SCOPE: scope } = settings;
  if (settings.SIGN_IN === 'off' || isServiceAlone(roles)) return [];
  const useless = (names: readonly SettingName[], why: string) =>
    names.filter((name) => given.has(name)).map((name) => fault(name, `${why}: unset it, or correct SIGN_IN_TYPE`));
  if (type === 'oauth2') return [];
  const faults: Fault[] = [];
  if (!given.has('SIGN_IN_URL')) {
    const what = type === 'oidc' ? 'the issuer' : "the CAS server's base address";
    faults.push(
      fault(
        'SIGN_IN_TYPE',
        `is ${type}, which requires SIGN_IN_URL: set SIGN_IN_URL to ${what}, or unset SIGN_IN_TYPE`,
      ),
    );
  }
  if (settings.SIGN_IN_STATE === 'absent')
    faults.push(
      fault('SIGN_IN_STATE', `cannot be absent with SIGN_IN_TYPE=${type}, which always returns state: unset it`),
    );
  if (type === 'cas') {
    const names = [
      ...(['SIGN_IN_CLIENT_ID', 'SIGN_IN_CLIENT_SECRET', 'SIGN_IN_CLIENT_AUTH'] as const),
      ...(['SIGN_IN_SCOPE', 'SIGN_IN_KEEP_TOKENS'] as const),
    ];
    faults.push(...useless(names, 'has no effect with SIGN_IN_TYPE=cas, which has neither clients nor tokens'));
  }
  if (type === 'oidc' && scope !== undefined && !scope.split(/ +/).includes('openid'))
    faults.push(fault('SIGN_IN_SCOPE', 'lacks openid, which OpenID Connect requires: add it'));
  const why =
    type === 'oidc'
      ? 'has no effect with SIGN_IN_TYPE=oidc, which uses seconds'
      : 'has no effect with SIGN_IN_TYPE=cas, which has no tokens';
  return [...faults, ...useless(['SIGN_IN_EXPIRES_UNIT'], why)];
}

/**
 * A connection's secret has no effect unless the connection is selected, and the operator would not learn why no messages
 * arrive.
 */
function connectionChosen({ given }: ValidatedSettings): Fault[] {
  const set: ReadonlySet<string> = given;
  return PLATFORMS.flatMap((platform: PlatformDescription) => {
    const { connection } = platform;
    const secret = connection?.credentials[0];
    if (!connection || secret === undefined || !set.has(secret) || set.has(connection.setting)) return [];
    return [fault(secret, `has an effect only with ${connection.setting}=${connection.value}: set it too`)];
  });
}

function completeCredentials({ settings, given }: ValidatedSettings): Fault[] {
  const ofPlatforms = PLATFORMS.flatMap((platform) => [
    credentialsOf(platform, settings) as readonly SettingName[],
    ...('webSignIn' in platform ? [platform.webSignIn] : []),
  ]);
  const groups: (readonly SettingName[])[] = [...ofPlatforms, SERVICE_OIDC_CREDENTIALS];
  return groups.flatMap((group) => {
    const present = group.filter((name) => given.has(name));
    if (present.length === 0) return [];
    const absent = group.filter((name) => !given.has(name));
    return absent.map((name) => missing(name, `${present.join(' and ')} requires it; set all of them or none`));
  });
}

function oneWebSearch({ given }: ValidatedSettings): Fault[] {
  if (!given.has('WEB_SEARCH_URL') || !given.has('WEB_SEARCH_BRAVE_KEY')) return [];
  return [fault('WEB_SEARCH_BRAVE_KEY', 'is set together with WEB_SEARCH_URL: keep one of the two')];
}

/** The service uses one sign-in provider, and only that provider's claims can be mapped. */
function oneInstitution({ given }: ValidatedSettings): Fault[] {
  const hasOidc = SERVICE_OIDC_CREDENTIALS.some((name) => given.has(name));
  const hasCas = given.has('SERVICE_CAS_URL');
  if (hasOidc && hasCas)
    return [fault('SERVICE_CAS_URL', 'is set together with SERVICE_OIDC_ISSUER: keep one of the two')];
  if (hasOidc || hasCas) return [];
  return (['SERVICE_PROFILE_MAP_FILE', 'SERVICE_IDENTITY_NAME'] as const)
    .filter((name) => given.has(name))
    .map((name) => fault(name, 'requires SERVICE_OIDC_ISSUER or SERVICE_CAS_URL: set one of them, or unset this'));
}

/**
 * Sign-in always requires a proof that the chat user and the signed-in person are the same (SECURITY.md proof-of-person).
 */
function proofOfPerson({ settings, given, mode, roles }: ValidatedSettings): Fault[] {
  if (settings.SIGN_IN === 'off' || isServiceAlone(roles)) return [];
  const named = settings.SIGN_IN_PROOF;
  if (named && 'by' in named) return proofOfEach(named.by, { settings, given, mode });
  if (named?.everywhere.includes('typed-code') && named.everywhere.length > 1) {
    return [fault('SIGN_IN_PROOF', 'combines typed-code with another proof: remove typed-code, or use it alone')];
  }
  // An invalid proof is reported separately.
  const isSameBrowser = named ? named.everywhere.includes('same-browser') : !given.has('SIGN_IN_PROOF');
  const { unable, able } = whoShowsBrowsers({ settings, given, mode });
  const [first] = unable;
  if (!isSameBrowser || first === undefined) return [];
  const needs = unable.map(needsOf).join('; ');
  const apart = able && `or name a proof for each platform such as ${able.name}:same-browser,${first.name}:same-id`;
  if (named) return [fault('SIGN_IN_PROOF', `names same-browser, which requires ${needs}${apart ? `; ${apart}` : ''}`)];
  const otherwise =
    apart ?? 'or set SIGN_IN_PROOF to same-id where platform user ids equal profile ids, or to typed-code';
  return [missing('SIGN_IN_PROOF', `set ${needs} for same-browser, ${otherwise}`)];
}

/**
 * Finds active platforms that cannot show whose chat account uses a browser. If none is active, all platforms are
 * considered.
 */
function whoShowsBrowsers({ settings, given, mode }: Pick<ValidatedSettings, 'settings' | 'given' | 'mode'>): {
  unable: PlatformDescription[];
  /** A platform that can show it. */
  able: PlatformDescription | undefined;
} {
  const set: ReadonlySet<string> = given;
  const played = simulatedPlatform(mode, settings);
  const all: readonly PlatformDescription[] = PLATFORMS;
  const isOn = (platform: PlatformDescription) => played?.name === platform.name || isBegun(platform, set);
  // An incomplete group is reported separately.
  const isAble = ({ name, webSignIn = [] }: PlatformDescription) =>
    webSignIn.length > 0 && (played?.name === name || webSignIn.some((each) => set.has(each)));
  const able = all.find(isAble);
  if (all.some(isOn)) return { unable: all.filter((each) => isOn(each) && !isAble(each)), able };
  return { unable: able ? [] : [...all], able };
}

function needsOf({ label, webSignIn }: PlatformDescription): string {
  return webSignIn ? webSignIn.join(', ') : `another platform than ${label.en}, which has no web sign-in here`;
}

/** Whether any setting for receiving the platform's messages is set. */
function isBegun({ credentials, connection }: PlatformDescription, given: ReadonlySet<string>): boolean {
  return [...credentials, ...(connection?.credentials ?? [])].some((name) => given.has(name));
}

type NamedProofs = Extract<ProofSetting, { by: unknown }>['by'];

function namesProof({ SIGN_IN_PROOF: named }: Settings, proof: SignInProof): boolean {
  if (named === undefined) return false;
  return ('by' in named ? Object.values(named.by).flat() : named.everywhere).includes(proof);
}

/** With a proof per platform, each active platform must have one that it supports. */
function proofOfEach(
  by: NamedProofs,
  { settings, given, mode }: Pick<ValidatedSettings, 'settings' | 'given' | 'mode'>,
): Fault[] {
  const set: ReadonlySet<string> = given;
  const played = simulatedPlatform(mode, settings);
  const names = PLATFORMS.map(({ name }) => name);
  const unknown = Object.keys(by).filter((name) => !names.some((known) => known === name));
  const faults = unknown.map((name) =>
    fault('SIGN_IN_PROOF', `names ${name}, which is not a platform; valid names are ${names.join(', ')}`),
  );
  for (const platform of PLATFORMS as readonly PlatformDescription[]) {
    const { name, label, webSignIn } = platform;
    const proofs = by[name];
    const isPlayed = played?.name === name;
    if (proofs === undefined) {
      if (isPlayed || isBegun(platform, set))
        faults.push(
          fault(
            'SIGN_IN_PROOF',
            `does not name ${label.en}, which is configured: add ${name}:same-id or another proof`,
          ),
        );
      continue;
    }
    if (proofs.includes('typed-code') && proofs.length > 1)
      faults.push(
        fault(
          'SIGN_IN_PROOF',
          `combines typed-code for ${label.en} with another proof: remove typed-code, or use it alone`,
        ),
      );
    if (!proofs.includes('same-browser')) continue;
    if (!webSignIn)
      faults.push(
        fault(
          'SIGN_IN_PROOF',
          `names same-browser for ${label.en}, which does not support web sign-in: use another proof`,
        ),
      );
    else if (!isPlayed && !webSignIn.some((each) => set.has(each)))
      faults.push(fault('SIGN_IN_PROOF', `names same-browser for ${label.en}, which requires ${webSignIn.join(', ')}`));
  }
  return faults;
}

const COMPLETIONS = '/chat/completions';

/** Documentation often shows the complete address of a completion, which then gets pasted. */
function chatAddressAlone({ settings }: ValidatedSettings): Fault[] {
  return (['CHAT_BASE_URL', 'SERVICE_UPSTREAM_URL'] as const)
    .filter((name) => settings[name]?.endsWith(COMPLETIONS))
    .map((name) =>
      fault(name, `ends in ${COMPLETIONS}, which Parley appends: remove it, so that the address ends in /v1`),
    );
}

function namedModels({ settings, given, roles }: ValidatedSettings): Fault[] {
  if (isListed({ given, roles })) return [];
  const models = settings.CHAT_MODELS ?? EMBEDDED_MODELS;
  return (['CHAT_MODEL', 'CHAT_FALLBACK_MODEL'] as const)
    .filter((name) => settings[name] !== undefined && !models.includes(settings[name]))
    .map((name) => fault(name, 'is not in CHAT_MODELS: add it there, or choose one of them'));
}

/** The soft limit must not exceed the hard one. */
function softBelowHard({ settings }: ValidatedSettings): Fault[] {
  const pairs = [
    ['QUEUE_SOFT_WAITING', 'QUEUE_HARD_WAITING'],
    ['QUEUE_SOFT_AGE_SEC', 'QUEUE_HARD_AGE_SEC'],
  ] as const;
  return pairs
    .filter(([soft, hard]) => settings[soft] > settings[hard])
    .map(([soft, hard]) => fault(soft, `is above ${hard}: set it to at most that value`));
}

function distinctPorts({ settings, roles }: ValidatedSettings): Fault[] {
  const taken = new Map([[settings.PORT, 'PORT']]);
  const more: [SettingName, number | undefined, boolean][] = [
    ['SERVICE_PORT', settings.SERVICE_PORT, roles.includes('service') && roles.length > 1],
    ['MESSENGER_PORT', settings.MESSENGER_PORT, roles.includes('messenger')],
    ['METRICS_PORT', settings.METRICS_PORT, !isServiceAlone(roles)],
    ['ADMIN_PORT', settings.ADMIN_PORT, roles.includes('receiver')],
  ];
  return more.flatMap(([name, port, isUsed]) => {
    if (!isUsed || port === undefined) return [];
    const other = taken.get(port);
    taken.set(port, name);
    return other === undefined ? [] : [fault(name, `is the same as ${other}: give each its own port`)];
  });
}

/** Without a sign-in service, no account could be proven. */
function administratorsSignIn({ settings, given }: ValidatedSettings): Fault[] {
  if (given.has('ADMIN_IDS') && settings.SIGN_IN === 'off')
    return [fault('ADMIN_IDS', 'needs the sign-in service, but SIGN_IN is off: remove ADMIN_IDS or turn sign-in on')];
  if (given.has('ADMIN_PORT') && !given.has('ADMIN_IDS'))
    return [fault('ADMIN_PORT', 'has no effect without ADMIN_IDS: set ADMIN_IDS or remove ADMIN_PORT')];
  return [];
}

/** If the two ports differ, one of them would be ignored. */
function onePortAlone({ settings, given, roles }: ValidatedSettings): Fault[] {
  const hasTwo = given.has('PORT') && given.has('SERVICE_PORT') && settings.PORT !== settings.SERVICE_PORT;
  if (!isServiceAlone(roles) || !hasTwo) return [];
  return [
    fault(
      'SERVICE_PORT',
      'differs from PORT, but the service alone uses one port: set one of them, or both to the same value',
    ),
  ];
}

function localOnlyRoles({ mode, roles }: ValidatedSettings): Fault[] {
  if (mode === 'local' || !roles.includes('messenger')) return [];
  return [
    fault(
      'ROLES',
      "names messenger, which runs in local mode only: for local mode, unset ROLES and the platform's credentials",
    ),
  ];
}

function sentinelNeedsAddress({ given }: ValidatedSettings): Fault[] {
  if (!given.has('REDIS_SENTINEL_NAME') || given.has('REDIS_URL')) return [];
  return [missing('REDIS_URL', 'REDIS_SENTINEL_NAME requires it: set it to the addresses of the sentinels')];
}

/** Reports platform settings that are set without the other settings they require. */
function neededBeside({ given }: { given: Given }): Fault[] {
  const set: ReadonlySet<string> = given;
  return PLATFORMS.flatMap(({ needs = {} }: PlatformDescription) =>
    Object.entries(needs).flatMap(([name, others]) => {
      const absent = set.has(name) ? others.filter((other) => !set.has(other)) : [];
      return absent.length === 0
        ? []
        : [fault(name, `requires ${absent.join(' and ')}: set ${absent.length === 1 ? 'it' : 'them'} too`)];
    }),
  );
}

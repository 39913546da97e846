import { PLATFORMS } from '../platforms/registry.ts';
import { fault, type Fault } from './fault.ts';
import {
  BOT_CREDENTIALS,
  credentialsOf,
  playedIn,
  isServiceAlone,
  SERVICE_OIDC_CREDENTIALS,
  type Given,
  type Mode,
  type Role,
} from './mode.ts';
import { neededBeside } from './needed-beside.ts';
import type { SettingName, Settings } from './schema.ts';
import { hasVersion, isLoopback, type ProofSetting } from './setting-kinds.ts';
import type { SignInProof } from './config.ts';
import type { PlatformDescription } from '../platforms/description.ts';

/** What a check judges. Settings whose text is faulty are absent from `settings` but stand in `given`. */
export interface ValidatedSettings {
  settings: Settings;
  given: Given;
  mode: Mode;
  roles: readonly Role[];
  /** Whether `NODE_ENV` says so, as the image does. */
  isProduction: boolean;
}

type Check = (judged: ValidatedSettings) => Fault[];

const PLATFORM_CREDENTIALS = PLATFORMS.map(({ credentials }) => credentials.join(' and ')).join(', or ');

/** What holds between several settings; all checks run, so that every fault is named at once (SECURITY.md checked-at-start). */
const CHECKS: readonly Check[] = [
  localModeMeant,
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
  localOnlyRoles,
  onePortAlone,
  sentinelNeedsAddress,
];

export function crossCheck(judged: ValidatedSettings): Fault[] {
  return CHECKS.flatMap((check) => check(judged));
}

/** Things that work, but perhaps not as meant. */
export function crossWarnings({ settings, given, mode, roles }: ValidatedSettings): string[] {
  if (isServiceAlone(roles)) return warningsAlone(given);
  const warnings: string[] = [];
  if (given.has('CHAT_BASE_URL') && !given.has('CHAT_API_KEY'))
    warnings.push('CHAT_API_KEY is not set: the chat service is asked without a key');
  if (settings.CHAT_BASE_URL && !hasVersion(settings.CHAT_BASE_URL))
    warnings.push('CHAT_BASE_URL does not end in a version such as /v1');
  if (settings.CHAT_FALLBACK_MODEL === (settings.CHAT_MODEL ?? settings.CHAT_MODELS[0]))
    warnings.push('CHAT_FALLBACK_MODEL is the model that answers anyway: there is no other to fall back to');
  if (settings.SIGN_IN !== 'off' && namesProof(settings, 'typed-code')) {
    warnings.push(
      'SIGN_IN_PROOF is typed-code: who talks a person into passing on their code is linked as them; use same-browser or same-id where they are possible',
    );
  }
  if (mode === 'local') return warnings;
  if (!given.has('PUBLIC_URL')) warnings.push('PUBLIC_URL is not set: links for people lead to this machine only');
  const set: ReadonlySet<string> = given;
  if (!PLATFORMS.some((platform) => set.has(credentialsOf(platform, settings)[0])))
    warnings.push(`No platform is set up: set ${PLATFORM_CREDENTIALS}`);
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

/** The service alone often reads the file that was written for a bot. */
function warningsAlone(given: Given): string[] {
  const isBotsFile = BOT_CREDENTIALS.flat().some((name) => given.has(name)) && given.has('PUBLIC_URL');
  if (!isBotsFile || given.has('SERVICE_PUBLIC_URL')) return [];
  return ["SERVICE_PUBLIC_URL is not set: pages lead to PUBLIC_URL, which stands beside a bot's credentials"];
}

/**
 * Whoever set up something for real people, and no platform, has forgotten it rather than wants the built-in model to
 * answer them. `MESSENGER_PROTOCOL`, which is of use in local mode only, says that it is meant.
 */
function localModeMeant({ settings, given, mode, isProduction }: ValidatedSettings): Fault[] {
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
      `${whole.slice(setting.length + 1)}, but no platform is set up: is local mode meant, or is a platform missing? Set ${PLATFORM_CREDENTIALS}; for local mode set MESSENGER_PROTOCOL=wecom${orRemove}`,
    ),
  ];
}

const MISSING = 'is missing: ';

function missing(name: SettingName, why: string): Fault {
  return fault(name, MISSING + why);
}

/**
 * Where nothing but names without a value speaks of real people, what such a set-up lacks follows from those names: it is said in one
 * line, so that the names themselves stand out.
 */
export function inOneLine(faults: readonly Fault[], forgotten: readonly string[]): Fault[] {
  const isLacking = ({ setting, message }: Fault) =>
    message.startsWith(`${setting} ${MISSING}`) && !forgotten.includes(setting);
  const lacking = faults.filter(isLacking).map(({ setting }) => setting);
  const [first] = lacking;
  if (first === undefined || lacking.length < 2) return [...faults];
  const lines = `remove the empty ${forgotten.length === 1 ? 'line' : 'lines'}`;
  const whole = `${lacking
    .slice(1)
    .map((name) => `, ${name}`)
    .join('')} follow from that: they are needed where a platform is set up; for local mode ${lines}`;
  const rest = faults.filter((found) => !isLacking(found));
  return [...rest, { setting: first, message: first + whole }];
}

function requiredWhenServing({ settings, given, mode, roles }: ValidatedSettings): Fault[] {
  if (mode === 'local' || isServiceAlone(roles)) return [];
  const required: [SettingName, string][] = [
    ['CHAT_BASE_URL', "set it to the chat service's address, ending in /v1"],
    ['REDIS_URL', 'set it to the address of a Redis, such as redis://127.0.0.1:6379'],
    ['SECRET_KEY', 'make one with: openssl rand -base64 32'],
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
    .map((name) => missing(name, 'the sign-in service at SIGN_IN_URL gave it to you'));
}

/** Each dialect needs some settings and has no use for others: one that would be ignored was set for a reason. */
function signInDialect({ settings, given, roles }: ValidatedSettings): Fault[] {
  const { SIGN_IN_TYPE: type, SIGN_IN_SCOPE: scope } = settings;
  if (settings.SIGN_IN === 'off' || isServiceAlone(roles)) return [];
  const useless = (names: readonly SettingName[], why: string) =>
    names.filter((name) => given.has(name)).map((name) => fault(name, `${why}: unset it, or correct SIGN_IN_TYPE`));
  if (type === 'oauth2') return [];
  const faults: Fault[] = [];
  if (!given.has('SIGN_IN_URL')) {
    const what = type === 'oidc' ? 'the issuer' : "the CAS server's base";
    faults.push(
      fault('SIGN_IN_TYPE', `is ${type}, which needs SIGN_IN_URL: set that to ${what}, or unset SIGN_IN_TYPE`),
    );
  }
  if (settings.SIGN_IN_STATE === 'absent')
    faults.push(
      fault('SIGN_IN_STATE', `cannot be absent with SIGN_IN_TYPE=${type}, where state always returns: unset it`),
    );
  if (type === 'cas') {
    const names = [
      ...(['SIGN_IN_CLIENT_ID', 'SIGN_IN_CLIENT_SECRET', 'SIGN_IN_CLIENT_AUTH'] as const),
      ...(['SIGN_IN_SCOPE', 'SIGN_IN_KEEP_TOKENS'] as const),
    ];
    faults.push(...useless(names, 'is of no use with SIGN_IN_TYPE=cas, which has neither clients nor tokens'));
  }
  if (type === 'oidc' && scope !== undefined && !scope.split(/ +/).includes('openid'))
    faults.push(fault('SIGN_IN_SCOPE', 'lacks openid, without which there is no OpenID Connect: add it'));
  const why =
    type === 'oidc'
      ? 'is of no use with SIGN_IN_TYPE=oidc, whose times are in seconds'
      : 'is of no use with SIGN_IN_TYPE=cas, which has no tokens';
  return [...faults, ...useless(['SIGN_IN_EXPIRES_UNIT'], why)];
}

/** A connection's secret beside a way that was never chosen: it would be of no use, and nobody would learn why nothing comes in. */
function connectionChosen({ given }: ValidatedSettings): Fault[] {
  const set: ReadonlySet<string> = given;
  return PLATFORMS.flatMap((platform: PlatformDescription) => {
    const { connection } = platform;
    const secret = connection?.credentials[0];
    if (!connection || secret === undefined || !set.has(secret) || set.has(connection.setting)) return [];
    return [fault(secret, `is of use with ${connection.setting}=${connection.value} only: set that too`)];
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
    return absent.map((name) =>
      missing(name, `${present.join(' and ')} cannot do without it; set all of them or none`),
    );
  });
}

function oneWebSearch({ given }: ValidatedSettings): Fault[] {
  if (!given.has('WEB_SEARCH_URL') || !given.has('WEB_SEARCH_BRAVE_KEY')) return [];
  return [fault('WEB_SEARCH_BRAVE_KEY', 'is set beside WEB_SEARCH_URL: keep one of the two')];
}

/** The service sends people to one place to sign in, and only what that place says of them can be mapped. */
function oneInstitution({ given }: ValidatedSettings): Fault[] {
  const hasOidc = SERVICE_OIDC_CREDENTIALS.some((name) => given.has(name));
  const hasCas = given.has('SERVICE_CAS_URL');
  if (hasOidc && hasCas) return [fault('SERVICE_CAS_URL', 'is set beside SERVICE_OIDC_ISSUER: keep one of the two')];
  if (hasOidc || hasCas) return [];
  return (['SERVICE_PROFILE_MAP_FILE', 'SERVICE_IDENTITY_NAME'] as const)
    .filter((name) => given.has(name))
    .map((name) => fault(name, 'needs SERVICE_OIDC_ISSUER or SERVICE_CAS_URL: set one of them, or unset this'));
}

/** Sign-in never runs without a proof that the chat user and the signed-in person are one (SECURITY.md proof-of-person). */
function proofOfPerson({ settings, given, mode, roles }: ValidatedSettings): Fault[] {
  if (settings.SIGN_IN === 'off' || isServiceAlone(roles)) return [];
  const named = settings.SIGN_IN_PROOF;
  if (named && 'by' in named) return proofOfEach(named.by, { settings, given, mode });
  if (named?.everywhere.includes('typed-code') && named.everywhere.length > 1) {
    return [
      fault('SIGN_IN_PROOF', 'names typed-code, which stands alone: leave it out, or set nothing else beside it'),
    ];
  }
  // One that is named wrongly has a fault of its own.
  const isSameBrowser = named ? named.everywhere.includes('same-browser') : !given.has('SIGN_IN_PROOF');
  const { unable, able } = whoShowsBrowsers({ settings, given, mode });
  const [first] = unable;
  if (!isSameBrowser || first === undefined) return [];
  const needs = unable.map(needsOf).join('; ');
  const apart = able && `or name a proof for each platform such as ${able.name}:same-browser,${first.name}:same-id`;
  if (named) return [fault('SIGN_IN_PROOF', `names same-browser, which needs ${needs}${apart ? `; ${apart}` : ''}`)];
  const otherwise =
    apart ?? 'or set SIGN_IN_PROOF to same-id where platform user ids equal profile ids, or to typed-code';
  return [missing('SIGN_IN_PROOF', `set ${needs} for same-browser, ${otherwise}`)];
}

/** Which platforms that are on cannot show whose chat account uses a browser. With none on, those count that there are. */
function whoShowsBrowsers({ settings, given, mode }: Pick<ValidatedSettings, 'settings' | 'given' | 'mode'>): {
  unable: PlatformDescription[];
  /** One that can. */
  able: PlatformDescription | undefined;
} {
  const set: ReadonlySet<string> = given;
  const played = playedIn(mode, settings);
  const all: readonly PlatformDescription[] = PLATFORMS;
  const isOn = (platform: PlatformDescription) => played?.name === platform.name || isBegun(platform, set);
  // A half-set group has a fault of its own.
  const isAble = ({ name, webSignIn = [] }: PlatformDescription) =>
    webSignIn.length > 0 && (played?.name === name || webSignIn.some((each) => set.has(each)));
  const able = all.find(isAble);
  if (all.some(isOn)) return { unable: all.filter((each) => isOn(each) && !isAble(each)), able };
  return { unable: able ? [] : [...all], able };
}

function needsOf({ label, webSignIn }: PlatformDescription): string {
  return webSignIn ? webSignIn.join(', ') : `another platform than ${label.en}, which has no web sign-in here`;
}

/** Whether anything is set that a platform receives its messages with. */
function isBegun({ credentials, connection }: PlatformDescription, given: ReadonlySet<string>): boolean {
  return [...credentials, ...(connection?.credentials ?? [])].some((name) => given.has(name));
}

type NamedProofs = Extract<ProofSetting, { by: unknown }>['by'];

function namesProof({ SIGN_IN_PROOF: named }: Settings, proof: SignInProof): boolean {
  if (named === undefined) return false;
  return ('by' in named ? Object.values(named.by).flat() : named.everywhere).includes(proof);
}

/** Where each platform has its own proof, each that is on is named, and none asks for what its platform cannot do. */
function proofOfEach(
  by: NamedProofs,
  { settings, given, mode }: Pick<ValidatedSettings, 'settings' | 'given' | 'mode'>,
): Fault[] {
  const set: ReadonlySet<string> = given;
  const played = playedIn(mode, settings);
  const names = PLATFORMS.map(({ name }) => name);
  const unknown = Object.keys(by).filter((name) => !names.some((known) => known === name));
  const faults = unknown.map((name) =>
    fault('SIGN_IN_PROOF', `names ${name}, which is no platform: ${names.join(', ')}`),
  );
  for (const platform of PLATFORMS as readonly PlatformDescription[]) {
    const { name, label, webSignIn } = platform;
    const proofs = by[name];
    const isPlayed = played?.name === name;
    if (proofs === undefined) {
      if (isPlayed || isBegun(platform, set))
        faults.push(
          fault('SIGN_IN_PROOF', `does not name ${label.en}, which is on: add ${name}:same-id or another proof`),
        );
      continue;
    }
    if (proofs.includes('typed-code') && proofs.length > 1)
      faults.push(fault('SIGN_IN_PROOF', `names typed-code for ${label.en} beside another, but it stands alone`));
    if (!proofs.includes('same-browser')) continue;
    if (!webSignIn)
      faults.push(fault('SIGN_IN_PROOF', `names same-browser for ${label.en}, which has no web sign-in here`));
    else if (!isPlayed && !webSignIn.some((each) => set.has(each)))
      faults.push(fault('SIGN_IN_PROOF', `names same-browser for ${label.en}, which needs ${webSignIn.join(', ')}`));
  }
  return faults;
}

const COMPLETIONS = '/chat/completions';

/** Documentation shows the whole address of a completion, and so it is pasted. */
function chatAddressAlone({ settings }: ValidatedSettings): Fault[] {
  return (['CHAT_BASE_URL', 'SERVICE_UPSTREAM_URL'] as const)
    .filter((name) => settings[name]?.endsWith(COMPLETIONS))
    .map((name) => fault(name, `ends in ${COMPLETIONS}, which is added to it: leave that out, so that it ends in /v1`));
}

function namedModels({ settings }: ValidatedSettings): Fault[] {
  return (['CHAT_MODEL', 'CHAT_FALLBACK_MODEL'] as const)
    .filter((name) => settings[name] !== undefined && !settings.CHAT_MODELS.includes(settings[name]))
    .map((name) => fault(name, 'is not among CHAT_MODELS: add it there, or choose one of them'));
}

/** The soft limit is the warning before the hard one. */
function softBelowHard({ settings }: ValidatedSettings): Fault[] {
  const pairs = [
    ['QUEUE_SOFT_WAITING', 'QUEUE_HARD_WAITING'],
    ['QUEUE_SOFT_AGE_SEC', 'QUEUE_HARD_AGE_SEC'],
  ] as const;
  return pairs
    .filter(([soft, hard]) => settings[soft] > settings[hard])
    .map(([soft, hard]) => fault(soft, `is above ${hard}: choose one that is not`));
}

function distinctPorts({ settings, roles }: ValidatedSettings): Fault[] {
  const taken = new Map([[settings.PORT, 'PORT']]);
  const more: [SettingName, number, boolean][] = [
    ['SERVICE_PORT', settings.SERVICE_PORT, roles.includes('service') && roles.length > 1],
    ['MESSENGER_PORT', settings.MESSENGER_PORT, roles.includes('messenger')],
  ];
  return more.flatMap(([name, port, isUsed]) => {
    if (!isUsed) return [];
    const other = taken.get(port);
    taken.set(port, name);
    return other === undefined ? [] : [fault(name, `is the same as ${other}: give each its own port`)];
  });
}

/** One of two that differ would be ignored. */
function onePortAlone({ settings, given, roles }: ValidatedSettings): Fault[] {
  const hasTwo = given.has('PORT') && given.has('SERVICE_PORT') && settings.PORT !== settings.SERVICE_PORT;
  if (!isServiceAlone(roles) || !hasTwo) return [];
  return [fault('SERVICE_PORT', 'is not PORT, and the service alone listens on one: set one of them, or both alike')];
}

function localOnlyRoles({ mode, roles }: ValidatedSettings): Fault[] {
  if (mode === 'local' || !roles.includes('messenger')) return [];
  return [
    fault(
      'ROLES',
      "names messenger, which runs in local mode only: leave ROLES and the platform's credentials unset for that",
    ),
  ];
}

function sentinelNeedsAddress({ given }: ValidatedSettings): Fault[] {
  if (!given.has('REDIS_SENTINEL_NAME') || given.has('REDIS_URL')) return [];
  return [missing('REDIS_URL', 'REDIS_SENTINEL_NAME needs the addresses of the sentinels')];
}

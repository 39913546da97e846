import { assembleConfig, assembleSecrets, type ProcessEnvironment } from './assemble.ts';
import type { Config, Secrets } from './config.ts';
import { crossCheck, crossWarnings, mergeMissingSettings, type ValidatedSettings } from './cross-checks.ts';
import { fault, type Fault } from './fault.ts';
import { isServiceAlone, modeOf, rolesOf, type Given } from './mode.ts';
import { unsupportedCredentials, faultsOfUnsupportedPlatforms } from './unsupported-platforms.ts';
import { readValues, type Environment } from './read-values.ts';
import { settingsSchema, type SettingName, type Settings } from './schema.ts';
import { warnOfAlteredValues } from './altered-values.ts';
import { warnOfUnknownNames } from './unknown-names.ts';

export interface LoadOptions extends Partial<ProcessEnvironment> {
  /** The process environment, or a test environment. */
  env: Environment;
  /** Base of `config/.env` and of relative paths. */
  cwd: string;
}

/** Warnings are sentences for the operator. */
export type LoadedSettings =
  | { readonly ok: true; readonly config: Config; readonly secrets: Secrets; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly faults: readonly Fault[]; readonly warnings: readonly string[] };

/**
 * Reads all settings: the process environment, then `config/.env` (or the file named by `ENV_FILE`), then defaults. Never
 * throws. Reports every fault, at most one per setting (SECURITY.md checked-at-start).
 */
export function loadSettings({ env, cwd, isTerminal = false }: LoadOptions): LoadedSettings {
  const { texts, file, fileText, faults: readFaults, warnings: emptyWarnings } = readValues(env, cwd);
  const given: Given = new Set(Object.keys(texts) as SettingName[]);
  const { faults: formFaults, settings } = readForms(texts);
  const others = unsupportedCredentials(env, file);
  const mode = modeOf(given, others.length > 0);
  const isProduction = env['NODE_ENV'] === 'production';
  const judged: ValidatedSettings = { settings, given, mode, roles: rolesOf(mode, settings.ROLES), isProduction };
  const platformFaults = isServiceAlone(judged.roles) ? [] : faultsOfUnsupportedPlatforms(others, given);
  const crossed = onePerSetting([...readFaults, ...formFaults, ...platformFaults, ...crossCheck(judged)]);
  const forgotten = [...given].filter((name) => texts[name] === '');
  const isForgottenPlatform =
    mode === 'serving' &&
    modeOf(new Set([...given].filter((name) => texts[name] !== '')), others.length > 0) === 'local';
  const faults = isForgottenPlatform ? mergeMissingSettings(crossed, forgotten) : crossed;
  const warnings = [
    ...warnOfUnknownNames(env, file),
    ...emptyWarnings,
    ...warnOfAlteredValues(texts, env, fileText),
    ...(faults.length > 0 ? [] : crossWarnings(judged)),
  ];
  if (faults.length > 0) return deepFreeze({ ok: false, faults, warnings });
  const config = deepFreeze(assembleConfig(judged, { cwd, isTerminal }));
  return { ok: true, config, secrets: Object.freeze(assembleSecrets(settings)), warnings };
}

/**
 * Reads only the named settings, even if others are missing, for commands that help to complete the settings. Invalid ones
 * get their default.
 */
export function readNamedSettings<Name extends SettingName>(
  { env, cwd }: Pick<LoadOptions, 'env' | 'cwd'>,
  names: readonly Name[],
): { values: Pick<Settings, Name>; faults: Fault[] } {
  const { texts, faults } = readValues(env, cwd);
  const { faults: formFaults, settings } = readForms(texts);
  const isNamed = ({ setting }: Fault) => setting === 'ENV_FILE' || names.some((name) => name === setting);
  return { values: settings, faults: onePerSetting([...faults, ...formFaults]).filter(isNamed) };
}

/** Parses each setting. Invalid ones are left out, so that the cross-checks can judge the rest. */
function readForms(texts: Partial<Record<SettingName, string>>): {
  faults: Fault[];
  settings: ValidatedSettings['settings'];
} {
  const readable = Object.entries(texts).filter(([, text]) => text !== '');
  const whole = settingsSchema.safeParse(Object.fromEntries(readable));
  if (whole.success) return { faults: [], settings: whole.data };
  const faults = whole.error.issues.map((issue) => fault(String(issue.path[0]), issue.message));
  const faulty = new Set(faults.map(({ setting }) => setting));
  const sound = Object.fromEntries(readable.filter(([name]) => !faulty.has(name)));
  return { faults, settings: settingsSchema.parse(sound) };
}

function onePerSetting(faults: readonly Fault[]): Fault[] {
  const first = new Map<string, Fault>();
  for (const found of faults) if (!first.has(found.setting)) first.set(found.setting, found);
  return [...first.values()];
}

function deepFreeze<T extends object>(value: T): T {
  for (const part of Object.values(value)) if (typeof part === 'object' && part !== null) deepFreeze(part as object);
  return Object.freeze(value);
}

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT } from '../shared/process/exit-codes.ts';
import { renderManifest, type ManifestOptions } from '../bot/platforms/slack/manifest.ts';
import type { Settings } from '../bot/config/schema.ts';
import { translatorTo, type Translate } from './terminal/translate.ts';

/** The settings that the manifest depends on. */
export const MANIFEST_SETTINGS = [
  'PUBLIC_URL',
  'SLACK_CONNECT',
  'SLACK_BOT_NAME',
  'SIGN_IN',
  'SIGN_IN_PROOF',
  'SLACK_MORE_WORKSPACES',
] as const satisfies readonly (keyof Settings)[];

export type ManifestSettings = Pick<Settings, (typeof MANIFEST_SETTINGS)[number]>;

/** The arguments of `slack-manifest`. */
export interface ManifestArguments {
  isAgent: boolean;
  /** Printed instead of written. */
  isPrinted: boolean;
  language: 'en' | 'zh';
}

interface ManifestCommand {
  asked: ManifestArguments;
  settings: ManifestSettings;
  /** Faults of these settings, one sentence each. */
  faults: readonly string[];
  /** The folder that contains `config/`. */
  cwd: string;
  output: { write(text: string): unknown };
  /** Output for messages. */
  asides: { write(text: string): unknown };
  /** Defaults to English. The manifest has a language of its own. */
  translate?: Translate;
}

export const MANIFEST_FILE = 'config/slack-manifest.yaml';
/** Placeholder while PUBLIC_URL is not set. */
const NO_HOST = 'https://your-host.example';

const NEXT_STEP = `Create the app at https://api.slack.com/apps ("From a manifest"). For an existing app, paste the manifest into its "App Manifest" page and
reinstall the app. See docs/guide/SLACK.md for the next steps.
`;

/**
 * `npm run slack:manifest`: writes the manifest for creating a Slack app. Needs no credentials, because they come from that
 * app.
 * @returns the exit code
 */
export function runSlackManifest(command: ManifestCommand): number {
  const { asked, settings, faults, cwd, output, asides, translate = translatorTo('en') } = command;
  const wish: ManifestOptions = { ...wishOf(settings), isAgent: asked.isAgent, language: asked.language };
  const wrong = [...faults, ...addressFaults(wish)];
  if (wrong.length > 0) {
    asides.write(translate(`${wrong.join('\n')}\n`));
    return EXIT.settings;
  }
  const manifest = renderManifest(wish);
  if (asked.isPrinted) {
    output.write(manifest);
    return EXIT.ok;
  }
  try {
    writeFileSync(join(cwd, MANIFEST_FILE), manifest);
  } catch {
    // In a container, config/ is read-only.
    output.write(manifest);
    asides.write(translate(`\n${MANIFEST_FILE} cannot be written here, so it is printed above. ${NEXT_STEP}`));
    return EXIT.ok;
  }
  if (settings.PUBLIC_URL === undefined && !needsNoAddress(wish))
    asides.write(translate(`PUBLIC_URL is not set: replace ${NO_HOST} with your address.\n`));
  output.write(translate(`${MANIFEST_FILE} was written. ${NEXT_STEP}`));
  return EXIT.ok;
}

/** The manifest options from the settings. Without an app, web sign-in is assumed. */
export function wishOf(settings: ManifestSettings): Omit<ManifestOptions, 'isAgent' | 'language'> {
  const {
    PUBLIC_URL: publicUrl = NO_HOST,
    SLACK_CONNECT: connect,
    SLACK_BOT_NAME: botName,
    SIGN_IN: signIn,
  } = settings;
  const proof = settings.SIGN_IN_PROOF;
  const proofs = proof && ('by' in proof ? (proof.by['slack'] ?? []) : proof.everywhere);
  const isShared = (settings.SLACK_MORE_WORKSPACES ?? []).length > 0;
  const hasWebSignIn = signIn !== 'off' && (proofs?.includes('same-browser') ?? true);
  return { publicUrl, connect, botName, isShared, hasWebSignIn };
}

function needsNoAddress({ connect, hasWebSignIn, isShared }: ManifestOptions): boolean {
  return connect === 'socket' && !hasWebSignIn && !isShared;
}

function addressFaults(wish: ManifestOptions): string[] {
  if (needsNoAddress(wish) || wish.publicUrl.startsWith('https://')) return [];
  return [
    `PUBLIC_URL is ${wish.publicUrl}, but Slack accepts only https addresses: set the address at which ${
      wish.connect === 'http' ? 'Slack and browsers reach' : 'browsers reach'
    } Parley${wish.connect === 'http' ? ' (SLACK_CONNECT=socket needs none for Slack)' : ''}`,
  ];
}

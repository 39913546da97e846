import { localize, type Language } from '../../../shared/text/texts.ts';
import { platformCallbackUrl, platformInstalledUrl } from '../callback-url.ts';
import { botScopes, COMMAND, signInScopes, subscribedEvents } from './app-rights.ts';
import { MANIFEST_TEXTS } from './description.ts';

export interface ManifestOptions {
  /** Origin that Slack and browsers can reach. */
  publicUrl: string;
  /** With `socket`, Slack calls no address of this deployment. */
  connect: 'http' | 'socket';
  botName: string;
  /** Whether the app may be installed in further workspaces. */
  isShared: boolean;
  /** Whether people sign in through Slack's web sign-in. */
  hasWebSignIn: boolean;
  /** Declares the app as an agent, for Slack's own stop button. */
  isAgent: boolean;
  language: Language;
}

/** Parts of a manifest, in output order; undefined parts are omitted. */
type Part = string | boolean | readonly Part[] | { readonly [name: string]: Part | undefined };

const HEAD =
  '# The Slack app of Parley, with the scopes and events that the code uses and no others.\n# Made from the settings by npm run slack:manifest.\n';

/** The YAML from which a Slack app is created with "From a manifest" (PLATFORM_FACTS.md slack-manifest). */
export function renderManifest(wish: ManifestOptions): string {
  return `${HEAD}${linesOf(manifestOf(wish)).join('\n')}\n`;
}

function manifestOf(wish: ManifestOptions): Part {
  const { publicUrl, connect, botName, hasWebSignIn, isShared, isAgent, language } = wish;
  const redirectUrls = [
    ...(hasWebSignIn ? [platformCallbackUrl(publicUrl, 'slack')] : []),
    ...(isShared ? [platformInstalledUrl(publicUrl, 'slack')] : []),
  ];
  const isCalled = connect === 'http';
  const url = isCalled ? `${publicUrl}/webhooks/slack` : undefined;
  const description = localize(MANIFEST_TEXTS.description, language);
  return {
    display_information: { name: botName, description },
    features: {
      agent_view: isAgent ? { agent_description: description } : undefined,
      app_home: { home_tab_enabled: false, messages_tab_enabled: true, messages_tab_read_only_enabled: false },
      bot_user: { display_name: botName, always_online: true },
      slash_commands: [
        {
          command: COMMAND,
          url,
          description: localize(MANIFEST_TEXTS.command, language, { name: botName }),
          usage_hint: localize(MANIFEST_TEXTS.hint, language),
          should_escape: true,
        },
      ],
    },
    oauth_config: {
      redirect_urls: redirectUrls.length > 0 ? redirectUrls : undefined,
      scopes: { user: hasWebSignIn ? signInScopes() : undefined, bot: botScopes(isAgent) },
    },
    settings: {
      event_subscriptions: { request_url: url, bot_events: subscribedEvents({ isAgent, isShared }) },
      interactivity: { is_enabled: true, request_url: url },
      org_deploy_enabled: false,
      socket_mode_enabled: !isCalled,
      token_rotation_enabled: false,
    },
  };
}

/** YAML in block style, limited to the constructs that a manifest needs. */
function linesOf(part: Part): string[] {
  if (typeof part === 'string') return [scalar(part)];
  if (typeof part === 'boolean') return [String(part)];
  if (part instanceof Array)
    return part.flatMap((one) => linesOf(one).map((line, index) => (index === 0 ? '- ' : '  ') + line));
  return Object.entries(part).flatMap(([name, value]) => {
    if (value === undefined) return [];
    const lines = linesOf(value);
    return typeof value === 'object'
      ? [`${name}:`, ...lines.map((line) => `  ${line}`)]
      : [`${name}: ${lines.join('')}`];
  });
}

/** A plain scalar if it is unambiguous; otherwise a quoted one. */
function scalar(text: string): string {
  const isPlain =
    /^[A-Za-z/](?:[\w ./,|-]|:(?! ))*$/.test(text) && !/^(?:y|n|yes|no|on|off|true|false|null)$|[ :]$/i.test(text);
  return isPlain ? text : `'${text.replaceAll("'", "''")}'`;
}

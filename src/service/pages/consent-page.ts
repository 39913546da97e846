import type { Context } from 'koa';
import { pairOf } from '../../shared/pages/account-pair.ts';
import { postForm } from '../../shared/pages/html-document.ts';
import { html, plainName } from '../../shared/text/html.ts';
import { localize, type Bilingual, type Language } from '../../shared/text/texts.ts';
import type { Person } from '../directory-file.ts';
import { languageOf, showPage } from './layout.ts';
import { PAGE_TEXTS as T } from './service-page-texts.ts';

const KINDS: ReadonlyMap<string, Bilingual> = new Map([
  ['JG', T.kindStaff],
  ['XS', T.kindStudent],
  ['QT', T.kindOther],
]);

export interface ConsentPage {
  csrf: string;
  clientName: string;
  person: Person;
  redirectUri: string;
  formTargets: readonly string[];
  /** Shown if another person could sign in here; not inside a messaging app. */
  canSwitch: boolean;
}

/** Asks for consent to share the profile with an application: buttons `decision=allow` and `decision=deny`. */
export function showConsentPage(
  ctx: Context,
  { csrf, clientName, person, redirectUri, formTargets, canSwitch }: ConsentPage,
): void {
  const language = languageOf(ctx);
  const client = plainName(clientName);
  const { attributes, parentIdentityInfo } = person.profile;
  const name = plainName(attributes.XM);
  const facts: [label: string, value: string][] = [
    [localize(T.sharesName, language), name],
    [localize(T.sharesNumber, language), maskNumber(attributes.XGH)],
    [localize(T.sharesDepartment, language), plainName(attributes.BMMC)],
    [localize(T.sharesKind, language), nameKind(parentIdentityInfo, language)],
  ];
  const title = localize(T.consentTitle, language, { client });
  const fields = html`<label class="check"
      ><input type="checkbox" name="remember" value="yes" />${localize(T.remember, language)}</label
    >
    <div class="buttons">
      <button class="primary" type="submit" name="decision" value="allow">${localize(T.allow, language)}</button>
      <button class="button" type="submit" name="decision" value="deny">${localize(T.deny, language)}</button>
    </div>
    <p class="quiet">${localize(T.consentNext, language, { host: hostOf(redirectUri) })}</p>
    ${canSwitch && html`<button class="plain" type="submit" name="decision" value="switch">${localize(T.switchPerson, language)}</button>`}`;
  const content = html`${pairOf(
      { name, detail: maskNumber(attributes.XGH) },
      { name: client, detail: localize(T.application, language) },
      localize(T.and, language),
    )}
    <h1>${title}</h1>
    <h2>${localize(T.consentShares, language, { client })}</h2>
    <dl class="facts">
      ${facts.map(
        ([label, value]) =>
          html`<div>
            <dt>${label}</dt>
            <dd>${value}</dd>
          </div>`,
      )}
    </dl>
    <p class="lead">${localize(T.consentNever, language)}</p>
    ${postForm('/oauth2.0/decision', csrf, fields)}`;
  showPage(ctx, { title, content, formTargets });
}

/**
 * The three identity types of the interface (SERVICE.md profile) in the page's language; those of other institutions by
 * their own names.
 */
function nameKind({ code, name }: Person['profile']['parentIdentityInfo'], language: Language): string {
  const kind = KINDS.get(code);
  return kind ? localize(kind, language) : plainName(name);
}

/** A masked number that its owner recognizes but an onlooker cannot read. */
export function maskNumber(number: string): string {
  const letters = [...plainName(number)];
  const shown = Math.min(2, Math.floor(letters.length / 4));
  return letters.map((letter, index) => (index < shown || index >= letters.length - shown ? letter : '•')).join('');
}

function hostOf(address: string): string {
  const { host, protocol } = new URL(address);
  return host || protocol;
}

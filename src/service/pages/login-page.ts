import type { Context } from 'koa';
import { postForm } from '../../shared/pages/html-document.ts';
import { html, plainName, type SafeHtml } from '../../shared/text/html.ts';
import { localize, type Bilingual, type Language } from '../../shared/text/texts.ts';
import { languageOf, showPage } from './layout.ts';
import { PAGE_TEXTS as T } from './service-page-texts.ts';

export interface LoginPage {
  /** A sign-in method elsewhere, as the first button. */
  way:
    | {
        path: string;
        /** Undefined inside a messaging app, which needs no name. */ name: Bilingual | undefined;
      }
    | undefined;
  /** The form's sealed hidden field; undefined omits the form. */
  csrf: string | undefined;
  /** The requesting application; undefined for our own account page. */
  clientName?: string;
  /** The next page asks for consent. */
  isConsentNext: boolean;
  formTargets: readonly string[];
  /** Error of the last attempt. */
  problem?: 'wrong' | 'slow';
  /** The username entered before, so that only the password must be entered again. */
  username?: string;
}

/** The button for another method, the form with `username` and `password`, or both. */
export function showLoginPage(
  ctx: Context,
  { way, csrf, clientName, isConsentNext, formTargets, problem, username }: LoginPage,
): void {
  const language = languageOf(ctx);
  const client = clientName === undefined ? undefined : plainName(clientName);
  const lead = client === undefined ? localize(T.signInLead, language) : localize(T.signInFor, language, { client });
  const content = html`<h1>${localize(T.signIn, language)}</h1>
    <p class="lead">${lead}</p>
    ${problem && html`<p class="notice bad" id="problem" role="alert">${localize(problem === 'slow' ? T.slowLogin : T.wrongLogin, language)}</p>`}
    ${way && html`<div class="buttons"><a class="primary" href="${way.path}">${nameWay(way.name, language)}</a></div>`}
    ${way && csrf !== undefined && html`<h2>${localize(T.signInByPassword, language)}</h2>`}
    ${csrf !== undefined && passwordForm({ csrf, username, hasProblem: problem !== undefined, isSecond: way !== undefined }, language)}
    ${client !== undefined && isConsentNext && html`<p class="quiet">${localize(T.signInNext, language, { client })}</p>`}`;
  showPage(ctx, {
    title: localize(T.signIn, language),
    content,
    formTargets,
    status: problem === undefined ? 200 : problem === 'slow' ? 429 : 401,
  });
}

function nameWay(name: Bilingual | undefined, language: Language): string {
  return name === undefined
    ? localize(T.continueSignIn, language)
    : localize(T.signInWith, language, { name: plainName(name[language]) });
}

interface PasswordForm {
  csrf: string;
  username: string | undefined;
  hasProblem: boolean;
  /** Another method is shown first on the page. */
  isSecond: boolean;
}

function passwordForm({ csrf, username = '', hasProblem, isSecond }: PasswordForm, language: Language): SafeHtml {
  const fields = html`<div class="field">
      <label for="username">${localize(T.username, language)}</label>
      <input
        id="username"
        name="username"
        value="${username}"
        autocomplete="username"
        autocapitalize="none"
        spellcheck="false"
        maxlength="200"
        required
        ${username === '' && !isSecond && html`autofocus`}
      />
    </div>
    <div class="field">
      <label for="password">${localize(T.password, language)}</label>
      <input
        id="password"
        name="password"
        type="password"
        autocomplete="current-password"
        maxlength="1024"
        required
        ${hasProblem && html`aria-describedby="problem"`}
        ${username !== '' && html`autofocus`}
      />
    </div>
    <div class="buttons">
      <button class="${isSecond ? 'button' : 'primary'}" type="submit">${localize(T.signInButton, language)}</button>
    </div>`;
  return postForm('/oauth2.0/login', csrf, fields);
}

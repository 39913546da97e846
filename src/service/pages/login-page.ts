import type { Context } from 'koa';
import { html, plainName } from '../../base/html.ts';
import { say } from '../../base/texts.ts';
import { languageOf, showPage } from './layout.ts';
import { PAGE_TEXTS as T } from './texts.ts';

export interface LoginPage {
  /** The sealed hidden field. */
  csrf: string;
  /** The application that asked; undefined on the way to our own account page. */
  clientName?: string | undefined;
  formTargets: readonly string[];
  /** What went wrong with the last try. */
  problem?: 'wrong' | 'slow';
  /** What was typed before, so that only the password has to be typed again. */
  username?: string;
}

/** The form with `username` and `password`. */
export function showLoginPage(
  ctx: Context,
  { csrf, clientName, formTargets, problem, username = '' }: LoginPage,
): void {
  const language = languageOf(ctx);
  const client = clientName === undefined ? undefined : plainName(clientName);
  const lead = client === undefined ? say(T.signInLead, language) : say(T.signInFor, language, { client });
  const described = problem === undefined ? undefined : 'problem';
  const content = html`<h1>${say(T.signIn, language)}</h1>
    <p class="lead">${lead}</p>
    ${problem && html`<p class="alert" id="problem" role="alert">${say(problem === 'slow' ? T.slowLogin : T.wrongLogin, language)}</p>`}
    <form method="post" action="/oauth2.0/login">
      <input type="hidden" name="csrf" value="${csrf}" />
      <div class="field">
        <label for="username">${say(T.username, language)}</label>
        <input
          id="username"
          name="username"
          value="${username}"
          autocomplete="username"
          autocapitalize="none"
          spellcheck="false"
          maxlength="200"
          required
          ${username === '' && html`autofocus`}
        />
      </div>
      <div class="field">
        <label for="password">${say(T.password, language)}</label>
        <input
          id="password"
          name="password"
          type="password"
          autocomplete="current-password"
          maxlength="1024"
          required
          ${described && html`aria-describedby="${described}"`}
          ${username !== '' && html`autofocus`}
        />
      </div>
      <div class="buttons"><button class="button" type="submit">${say(T.signInButton, language)}</button></div>
    </form>
    ${client !== undefined && html`<p class="note">${say(T.signInNext, language, { client })}</p>`}`;
  showPage(ctx, {
    title: say(T.signIn, language),
    content,
    formTargets,
    status: problem === undefined ? 200 : problem === 'slow' ? 429 : 401,
  });
}

import type { Router } from '@koa/router';
import type { CheckLogin } from './check-login.ts';
import { formField, type Forms } from './forms.ts';
import type { Login } from './login.ts';
import { readReturnTo } from './return-to.ts';
import type { Visitors } from './browser-sessions.ts';

const MAX_TYPED_CHARS = 1_024;

export interface LoginRouteParts {
  login: Login;
  checkLogin: CheckLogin;
  forms: Forms;
  visitors: Visitors;
}

/** The page for choosing a sign-in method, and the target of its login form. */
export function addLoginRoutes(router: Router, { login, checkLogin, forms, visitors }: LoginRouteParts): void {
  router.get('/sign-in', (ctx) => login.show(ctx, { returnTo: readReturnTo(ctx), isAnew: true }));
  router.post('/oauth2.0/login', async (ctx) => {
    const { returnTo } = forms.open(ctx, 'login');
    const username = (formField(ctx, 'username') ?? '').trim().slice(0, MAX_TYPED_CHARS);
    const password = (formField(ctx, 'password') ?? '').slice(0, MAX_TYPED_CHARS);
    const person = await checkLogin(ctx, { username, password });
    if ('retryAfterSec' in person) {
      const isSlow = person.retryAfterSec !== undefined;
      if (isSlow) ctx.set('Retry-After', String(person.retryAfterSec));
      login.show(ctx, { returnTo, problem: isSlow ? 'slow' : 'wrong', username });
      return;
    }
    await visitors.begin(ctx, { person, method: 'password' });
    ctx.redirect(returnTo);
    ctx.status = 303;
  });
}

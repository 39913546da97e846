import type { ServerResponse } from 'node:http';

/** The login page of a provider, which accepts any user name. The form posts to the address of the page. */
export function showLoginForm(response: ServerResponse): void {
  const fields = '<input name="username" /><input name="password" type="password" />';
  response
    .writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
    .end(`<h1>Log in</h1><form method="post" action="">${fields}<button>Go on</button></form>`);
}

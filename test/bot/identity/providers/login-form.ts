import type { ServerResponse } from 'node:http';

/** The login page of a provider: whoever types a name is that person. It is sent to its own address, which no page repeats. */
export function showLoginForm(response: ServerResponse): void {
  const fields = '<input name="username" /><input name="password" type="password" />';
  response
    .writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
    .end(`<h1>Log in</h1><form method="post" action="">${fields}<button>Go on</button></form>`);
}

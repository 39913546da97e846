// Signs in with one client library: `fork('sign-in-clients.mjs', [NAME])`. The parent plays the person with a browser.
import { once } from 'node:events';

/** Issuer, client and port of the application, from the parent. */
const { issuer, clientId, clientSecret, port, scope } = JSON.parse(process.env['CLIENT'] ?? '{}');
const authorizeUrl = `${issuer}/oauth2.0/authorize`;
const tokenUrl = `${issuer}/oauth2.0/accessToken`;
const profileUrl = `${issuer}/oauth2.0/profile`;
const revokeUrl = `${issuer}/oauth2.0/revoke`;
const origin = `http://127.0.0.1:${port}`;
const redirectUri = `${origin}/callback`;
const state = 'state-of-the-client-with-many-characters';

/** The person opens the address, signs in and agrees. @returns the address to which the service sends the browser */
async function signIn(address) {
  process.send({ open: String(address) });
  const [back] = await once(process, 'message');
  return back;
}

async function readProfile(accessToken) {
  const answer = await fetch(profileUrl, { headers: { authorization: `Bearer ${accessToken}` } });
  return answer.json();
}

/** Walks through an application with a start page and a callback. @returns the JSON of its last page */
async function walk(startPath, send) {
  const cookies = new Map();
  const get = async (address) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await send(new URL(address, origin), { headers: { cookie }, redirect: 'manual' });
    for (const line of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line);
      cookies.set(name, value);
    }
    return answer;
  };
  let answer = await get(startPath);
  while (answer.status >= 300 && answer.status < 400) {
    const next = new URL(answer.headers.get('location'), origin);
    answer = await get(next.origin === origin ? next : await signIn(next));
  }
  return JSON.parse(await answer.text());
}

/** Serves an Express application while `work` runs. */
async function serve(app, work) {
  const server = app.listen(port, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await work();
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

async function expressApp() {
  const { default: express } = await import('express');
  const { default: session } = await import('express-session');
  return express().use(session({ secret: 'secret of the session', resave: false, saveUninitialized: true }));
}

const CLIENTS = {
  async 'simple-oauth2'() {
    const { AuthorizationCode } = await import('simple-oauth2');
    const client = new AuthorizationCode({
      client: { id: clientId, secret: clientSecret },
      auth: {
        tokenHost: issuer,
        tokenPath: '/oauth2.0/accessToken',
        authorizePath: '/oauth2.0/authorize',
        revokePath: '/oauth2.0/revoke',
      },
    });
    const back = new URL(await signIn(client.authorizeURL({ redirect_uri: redirectUri, scope, state })));
    const token = await client.getToken({ code: back.searchParams.get('code'), redirect_uri: redirectUri, scope });
    const profile = await readProfile(token.token.access_token);
    const refreshed = (await token.refresh()).token.access_token;
    await token.revoke('access_token');
    return { profile, token: token.token.access_token, refreshed, revoked: token.token.access_token };
  },

  async 'passport-oauth2'() {
    const { default: passport } = await import('passport');
    const { default: OAuth2Strategy } = await import('passport-oauth2');
    const options = {
      authorizationURL: authorizeUrl,
      tokenURL: tokenUrl,
      clientID: clientId,
      clientSecret,
      callbackURL: redirectUri,
      scope,
      state: true,
      pkce: true,
    };
    const strategy = new OAuth2Strategy(options, (token, refreshToken, profile, done) =>
      strategy._oauth2.getOAuthAccessToken(refreshToken, { grant_type: 'refresh_token' }, (error, refreshed) =>
        done(error, { profile, token, refreshed }),
      ),
    );
    strategy._oauth2.useAuthorizationHeaderforGET(true);
    strategy.userProfile = (token, done) =>
      strategy._oauth2.get(profileUrl, token, (error, body) => done(error, error ? undefined : JSON.parse(body)));
    const app = await expressApp();
    app.use(passport.initialize());
    app.get('/login', passport.authenticate(strategy, { session: false }));
    app.get('/callback', passport.authenticate(strategy, { session: false }), ({ user }, response) =>
      response.json(user),
    );
    return serve(app, () => walk('/login', fetch));
  },

  async 'openid-client'() {
    const client = await import('openid-client');
    const config = await client.discovery(
      new URL(issuer),
      clientId,
      clientSecret,
      client.ClientSecretBasic(clientSecret),
      {
        algorithm: 'oauth2',
        execute: [client.allowInsecureRequests],
      },
    );
    const verifier = client.randomPKCECodeVerifier();
    const address = client.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope,
      state,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    const back = new URL(await signIn(address));
    const checks = { pkceCodeVerifier: verifier, expectedState: state };
    const tokens = await client.authorizationCodeGrant(config, back, checks);
    const profile = await client.fetchUserInfo(config, tokens.access_token, client.skipSubjectCheck);
    const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token);
    await client.tokenRevocation(config, refreshed.access_token);
    return {
      profile,
      token: tokens.access_token,
      refreshed: refreshed.access_token,
      revoked: refreshed.access_token,
    };
  },

  async oauth4webapi() {
    const oauth = await import('oauth4webapi');
    const insecure = { [oauth.allowInsecureRequests]: true };
    const found = await oauth.discoveryRequest(new URL(issuer), { algorithm: 'oauth2', ...insecure });
    const server = await oauth.processDiscoveryResponse(new URL(issuer), found);
    const client = { client_id: clientId };
    const auth = oauth.ClientSecretPost(clientSecret);
    const verifier = oauth.generateRandomCodeVerifier();
    const address = new URL(server.authorization_endpoint);
    address.search = new URLSearchParams({
      response_type: 'code',
      client_id: clientId,
      redirect_uri: redirectUri,
      scope,
      state,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    const back = oauth.validateAuthResponse(server, client, new URL(await signIn(address)), state);
    const answer = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      auth,
      back,
      redirectUri,
      verifier,
      insecure,
    );
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, answer);
    const shown = await oauth.userInfoRequest(server, client, tokens.access_token, insecure);
    const profile = await oauth.processUserInfoResponse(server, client, oauth.skipSubjectCheck, shown);
    const again = await oauth.refreshTokenGrantRequest(server, client, auth, tokens.refresh_token, insecure);
    const refreshed = await oauth.processRefreshTokenResponse(server, client, again);
    await oauth.processRevocationResponse(
      await oauth.revocationRequest(server, client, auth, tokens.refresh_token, insecure),
    );
    return {
      profile,
      token: tokens.access_token,
      refreshed: refreshed.access_token,
      revoked: tokens.access_token,
    };
  },

  async grant() {
    const { default: grant } = await import('grant');
    const app = await expressApp();
    app.use(
      grant.express({
        defaults: { origin, transport: 'session', state: true, pkce: true },
        parley: {
          oauth: 2,
          authorize_url: authorizeUrl,
          access_url: tokenUrl,
          profile_url: profileUrl,
          key: clientId,
          secret: clientSecret,
          scope: [scope],
          token_endpoint_auth_method: 'client_secret_basic',
          callback: '/done',
          response: ['tokens', 'profile'],
        },
      }),
    );
    app.get('/done', ({ session }, response) => response.json(session.grant.response));
    const { profile, access_token: token } = await serve(app, () => walk('/connect/parley', fetch));
    return { profile, token };
  },

  async '@fastify/oauth2'() {
    const { default: fastify } = await import('fastify');
    const { default: oauth2 } = await import('@fastify/oauth2');
    const app = fastify();
    app.register(oauth2, {
      name: 'parley',
      scope: [scope],
      credentials: {
        client: { id: clientId, secret: clientSecret },
        auth: {
          authorizeHost: issuer,
          authorizePath: '/oauth2.0/authorize',
          tokenHost: issuer,
          tokenPath: '/oauth2.0/accessToken',
          revokePath: '/oauth2.0/revoke',
        },
      },
      startRedirectPath: '/login',
      callbackUri: redirectUri,
      pkce: 'S256',
    });
    app.get('/callback', async (request) => {
      const { token } = await app.parley.getAccessTokenFromAuthorizationCodeFlow(request);
      const { token: again } = await app.parley.getNewAccessTokenUsingRefreshToken(token, {});
      await app.parley.revokeToken(token, 'access_token');
      const profile = await readProfile(again.access_token);
      return {
        profile,
        token: token.access_token,
        refreshed: again.access_token,
        revoked: token.access_token,
      };
    });
    await app.listen({ port, host: '127.0.0.1' });
    try {
      return await walk('/login', fetch);
    } finally {
      await app.close();
    }
  },

  async '@auth/core'() {
    const { Auth, customFetch } = await import('@auth/core');
    let token;
    const config = {
      secret: 'secret of the application',
      trustHost: true,
      basePath: '/auth',
      providers: [
        {
          id: 'parley',
          name: 'Parley',
          type: 'oauth',
          issuer,
          clientId,
          clientSecret,
          authorization: { url: authorizeUrl, params: { scope } },
          token: tokenUrl,
          userinfo: profileUrl,
          checks: ['pkce', 'state'],
          client: { token_endpoint_auth_method: 'client_secret_basic' },
          [customFetch]: fetch,
          profile: (profile) => ({ id: profile.sub, name: profile.attributes.XM }),
        },
      ],
      callbacks: {
        jwt: ({ token: kept, account, profile }) => {
          token ??= account?.access_token;
          return profile ? { ...kept, profile } : kept;
        },
        session: ({ session, token: kept }) => ({ ...session, profile: kept.profile }),
      },
      logger: { error: (error) => process.send({ error: `${error.stack} ${error.cause?.err?.stack ?? ''}` }) },
    };
    const send = async (address, init) => {
      const { pathname } = new URL(address);
      if (pathname !== '/auth/start') return Auth(new Request(address, init), config);
      const csrf = await Auth(new Request(`${origin}/auth/csrf`), config);
      const { csrfToken } = await csrf.json();
      const cookie = csrf.headers
        .getSetCookie()
        .map((line) => line.split(';')[0])
        .join('; ');
      const body = new URLSearchParams({ csrfToken, callbackUrl: `${origin}/auth/session` });
      return Auth(new Request(`${origin}/auth/signin/parley`, { method: 'POST', headers: { cookie }, body }), config);
    };
    const { profile } = await walk('/auth/start', send);
    return { profile, token };
  },

  async 'client-oauth2'() {
    const { default: ClientOAuth2 } = await import('client-oauth2');
    const client = new ClientOAuth2({
      clientId,
      clientSecret,
      accessTokenUri: tokenUrl,
      authorizationUri: authorizeUrl,
      redirectUri,
      scopes: [scope],
      state,
    });
    const user = await client.code.getToken(await signIn(client.code.getUri()));
    const request = user.sign({ method: 'get', url: profileUrl, headers: {} });
    const profile = await (await fetch(request.url, { headers: request.headers })).json();
    const refreshed = await user.refresh();
    return { profile, token: user.accessToken, refreshed: refreshed.accessToken };
  },

  async arctic() {
    const { OAuth2Client, CodeChallengeMethod, generateCodeVerifier } = await import('arctic');
    const client = new OAuth2Client(clientId, clientSecret, redirectUri);
    const verifier = generateCodeVerifier();
    const method = CodeChallengeMethod.S256;
    const address = client.createAuthorizationURLWithPKCE(authorizeUrl, state, method, verifier, [scope]);
    const back = new URL(await signIn(address));
    const tokens = await client.validateAuthorizationCode(tokenUrl, back.searchParams.get('code'), verifier);
    const profile = await readProfile(tokens.accessToken());
    const refreshed = await client.refreshAccessToken(tokenUrl, tokens.refreshToken(), [scope]);
    await client.revokeToken(revokeUrl, tokens.accessToken());
    return {
      profile,
      token: tokens.accessToken(),
      refreshed: refreshed.accessToken(),
      revoked: tokens.accessToken(),
    };
  },
};

try {
  process.send({ result: await CLIENTS[process.argv[2]]() });
} catch (error) {
  process.send({ error: `${error.stack}\n${error.cause ?? ''}\n${JSON.stringify(error.data?.payload ?? '')}` });
}
process.disconnect();

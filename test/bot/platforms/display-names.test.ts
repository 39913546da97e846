import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { startFakeSlack, type FakeSlack } from '../../support/fake-slack.ts';
import { BOT_TOKEN, slack } from './slack/support.ts';
import { startFakeApi, type FakeApi } from './wecom/fake-api.ts';
import { wecom } from './wecom/support.ts';

describe('Slack display names', () => {
  let fake: FakeSlack;
  beforeEach(async () => {
    fake = await startFakeSlack(BOT_TOKEN);
  });
  afterEach(() => fake.close());
  const nameOf = (userId: string) => slack({ apiUrl: fake.apiUrl }).displayNameOf?.(userId);

  test.each([
    [{ profile: { display_name: 'zoe', real_name: 'Zoë Zhang' } }, 'zoe'],
    [{ profile: { display_name: '', real_name: 'Zoë Zhang' } }, 'Zoë Zhang'],
    [{ real_name: 'Zoë Zhang', profile: { display_name: ' ' } }, 'Zoë Zhang'],
    [{ profile: { display_name: 7 } }, undefined],
    [{}, undefined],
  ])('are read from users.info: %j', async (user, name) => {
    fake.people.set('U1', user);
    expect(await nameOf('U1')).toBe(name);
    expect(fake.calls.at(-1)).toEqual({ method: 'users.info', args: { user: 'U1' } });
  });

  test('are undefined for an unknown user, a missing scope or an error status', async () => {
    expect(await nameOf('U404')).toBeUndefined();
    fake.faults.set('users.info', [
      { kind: 'error', error: 'missing_scope' },
      { kind: 'status', status: 503 },
    ]);
    const platform = slack({ apiUrl: fake.apiUrl });
    expect(await platform.displayNameOf?.('U1')).toBeUndefined();
    expect(await platform.displayNameOf?.('U1')).toBeUndefined();
    // A failed name lookup is not an access fault: Slack still accepts all other calls.
    expect(platform.access?.fault).toBeUndefined();
  });
});

describe('WeCom display names', () => {
  let fake: FakeApi;
  beforeEach(async () => {
    fake = await startFakeApi();
    fake.answers.set('/cgi-bin/batch/openuserid_to_userid', { errcode: 0, userid_list: [] });
  });
  afterEach(() => fake.close());
  const nameOf = (userId: string) =>
    wecom({
      agent: { corpId: 'corp', agentId: '1', secret: 'secret' },
      addresses: { apiUrl: fake.url },
    }).displayNameOf?.(userId);

  test.each([
    [{ errcode: 0, userid: 'zhangsan', name: '张三' }, '张三'],
    [{ errcode: 0, userid: 'zhangsan', name: 'zhangsan' }, undefined],
    [{ errcode: 0, userid: 'zhangsan' }, undefined],
    [{ errcode: 60_011, errmsg: 'no privilege' }, undefined],
  ])('are read from user/get: %j', async (answer, name) => {
    fake.answers.set('/cgi-bin/user/get', answer);
    expect(await nameOf('zhangsan')).toBe(name);
  });

  test('are looked up with the plain id of an encrypted user id', async () => {
    const userId = 'woAAAAAAAAAAAAAAAAAAAAAAAA';
    fake.answers.set('/cgi-bin/batch/openuserid_to_userid', {
      errcode: 0,
      userid_list: [{ open_userid: userId, userid: 'zhangsan' }],
    });
    fake.answers.set('/cgi-bin/user/get', ({ query }) => ({
      errcode: 0,
      name: `name of ${query.get('userid') ?? ''}`,
    }));
    expect(await nameOf(userId)).toBe('name of zhangsan');
  });

  test('are unavailable without the self-built app', () => {
    expect(wecom({ addresses: { apiUrl: fake.url } }).displayNameOf).toBeUndefined();
  });
});

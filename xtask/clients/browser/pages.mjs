// Every page a person can reach, looked at from all sides; the ones with a decision are also worked by keyboard.

import { Callback } from './callback.mjs';
import { DESKTOP, PHONE, heading, labelled, press, type } from './chromium.mjs';
import { OAuthClient, details, ownerDevice } from './client.mjs';
import { HOSTILE, checkHarmless } from './hostile.mjs';
import { checkTabOrder, tabTo } from './keyboard.mjs';

/** The first run, the owner's empty page, and the ways in. Sets the passphrase. */
export async function waysIn(plan, chromium, inspector, report) {
  const page = await chromium.visitor();
  await page.goto(plan.first_run);
  await inspector.inspect(page, 'first run');
  await checkTabOrder(page, 'first run', report);
  await type(page, 'New passphrase', plan.passphrase);
  await type(page, 'The same again', plan.passphrase);
  await press(page, 'Set the passphrase');
  report.check('first run: ends on the owner\u2019s page', 'Your data', await heading(page));
  await inspector.inspect(page, 'owner, nothing yet');
  await page.goto(plan.first_run);
  await inspector.inspect(page, 'first run, used');
  await page.browserContext().close();

  const stranger = await chromium.visitor();
  await stranger.goto(`${plan.url}/owner`);
  await inspector.inspect(stranger, 'login');
  await checkTabOrder(stranger, 'login', report);
  await type(stranger, 'Passphrase', 'not the passphrase');
  await press(stranger, 'Sign in');
  report.check('login: a wrong passphrase is told', true, (await stranger.$('#problem')) !== null);
  await inspector.inspect(stranger, 'login, wrong');
  // By keyboard: the field has the focus already.
  await stranger.keyboard.type(plan.passphrase);
  await Promise.all([stranger.waitForNavigation(), stranger.keyboard.press('Enter')]);
  report.check('login: the keyboard signs in', 'Your data', await heading(stranger));
  return stranger;
}

/** What clients ask, and how it is answered. */
export async function consent(plan, page, inspector, report) {
  const callback = await Callback.listen();
  const ordinary = await OAuthClient.register(plan.url, callback.url, 'Harbour assistant');

  await page.goto(ordinary.authorize(details()));
  await inspector.inspect(page, 'consent');
  await checkTabOrder(page, 'consent', report);
  if (plan.screenshots) {
    for (const [name, viewport] of [['phone', PHONE], ['desktop', DESKTOP]]) {
      await page.setViewport(viewport);
      await page.evaluate(() => (document.activeElement.blur(), window.scrollTo(0, 0)));
      await page.screenshot({ path: `${plan.screenshots}/consent-${name}.png` });
    }
  }
  await byKeyboard(page, callback, report);

  await page.goto(ordinary.authorize(details()));
  await (await labelled(page, 'Channels')).click();
  await press(page, 'Allow');
  report.check('consent: what it needs is asked for once more', 'Allow without this?', await heading(page));
  await inspector.inspect(page, 'consent, something missing');
  const allowed = callback.next();
  await press(page, 'Allow anyway');
  report.check('consent: less than asked is allowed', true, 'code' in (await allowed));

  await page.goto(ordinary.authorize());
  report.check('picker: is shown', 'Choose what to share', await heading(page));
  await inspector.inspect(page, 'picker');
  await checkTabOrder(page, 'picker', report);
  await press(page, 'Allow');
  report.check('picker: nothing chosen is nothing allowed', 'Choose what to share', await heading(page));
  await inspector.inspect(page, 'picker, nothing chosen');
  const denied = callback.next();
  await press(page, 'Deny');
  report.check('picker: a denial is told to the client', 'access_denied', (await denied).error);

  await hostile(plan, page, callback, inspector, report);
  await results(plan, page, ordinary, inspector, report);
  callback.close();
}

/** Unticks a field and a stream, and allows the rest, without a pointer. */
async function byKeyboard(page, callback, report) {
  await page.reload();
  await tabTo(page, 'Channels');
  await page.keyboard.press('Space');
  await page.keyboard.press('Space');
  const summary = await page.$eval('summary', (one) => one.innerText.trim());
  await tabTo(page, summary);
  await page.keyboard.press('Enter');
  const open = await page.$eval('details', (one) => one.open);
  report.check('consent: the keyboard unfolds the fields', true, open);
  await page.keyboard.press('Tab');
  const before = await page.evaluate(() => document.activeElement.checked);
  await page.keyboard.press('Space');
  const after = await page.evaluate(() => document.activeElement.checked);
  report.check('consent: the keyboard unticks a field', [true, false], [before, after]);
  await tabTo(page, 'Allow');
  const back = callback.next();
  await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
  report.check('consent: the keyboard allows', 'Back at the client', await heading(page));
  report.check('consent: the client has its code', true, 'code' in (await back));
}

async function hostile(plan, page, callback, inspector, report) {
  const client = await OAuthClient.register(plan.url, callback.url, HOSTILE);
  await page.goto(client.authorize(details(HOSTILE), 'hooks.harbour.example'));
  await checkHarmless(page, 'hostile consent', report);
  await inspector.inspect(page, 'hostile consent');
  const host = await labelled(page, 'To hooks.harbour.example');
  report.check('hostile consent: no host is ticked before', false, await host.evaluate((one) => one.checked));
  await host.click();
  await press(page, 'Allow');
  await page.goto(client.authorize());
  await checkHarmless(page, 'hostile picker', report);
  await inspector.inspect(page, 'hostile picker');
  await page.goto(`${plan.url}/owner`);
  await checkHarmless(page, 'owner with a hostile client', report);
  await inspector.inspect(page, 'owner with a hostile client');
  await checkTabOrder(page, 'owner', report);
  await press(page, 'Take back');
  report.check('owner: a host is taken back', null, await page.$('[id^=forbid-]'));
}

/** Pages one arrives at: a code to carry, devices, what has ended, what is wrong. */
async function results(plan, page, client, inspector, report) {
  const pushed = await client.push(details());
  await page.goto(pushed);
  await press(page, 'Allow');
  report.check('exchange: a code to carry', true, (await page.$('#exchange-code')) !== null);
  await inspector.inspect(page, 'exchange');
  await page.goto(pushed);
  await inspector.inspect(page, 'consent, decided already');

  await page.goto(`${plan.url}/device`);
  await inspector.inspect(page, 'device');
  await checkTabOrder(page, 'device', report);
  await type(page, 'Code', 'BBBB-BBBB');
  await press(page, 'Continue');
  report.check('device: a wrong code is told', true, (await page.$('#problem')) !== null);
  await inspector.inspect(page, 'device, wrong code');
  await type(page, 'Code', await client.device(details()));
  await press(page, 'Continue');
  report.check('device: what it asks is shown', 'A request for your data', await heading(page));
  await press(page, 'Allow');
  await inspector.inspect(page, 'device, allowed');
  await page.goto(`${plan.url}/device`);
  await type(page, 'Code', await ownerDevice(plan.url));
  await press(page, 'Continue');
  report.check('device: full access is called so', 'Full access for a device', await heading(page));
  await inspector.inspect(page, 'device, full access');
  await checkTabOrder(page, 'device, full access', report);
  await press(page, 'Deny');
  await inspector.inspect(page, 'device, denied');

  await page.goto(`${plan.url}/owner/passkeys`);
  await inspector.inspect(page, 'passkeys');
  await page.goto(`${plan.url}/consent?request_uri=urn:ietf:params:oauth:request_uri:unknown`);
  await inspector.inspect(page, 'consent, unknown request');
  await page.goto(`${plan.url}/oauth/authorize?client_id=nobody&response_type=code`);
  report.check('error: a request that cannot go back is a page', 'text/html', await page.evaluate(() => document.contentType));
  await inspector.inspect(page, 'error of the authorization endpoint');
}

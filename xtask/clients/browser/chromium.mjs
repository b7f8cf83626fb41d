// Chromium, and tabs in it that are watched: whatever a page does that it must not do is a failure.

import { join } from 'node:path';

export const PHONE = { width: 390, height: 844 };
export const DESKTOP = { width: 1280, height: 900 };

/** A refusal is a page with a status, and Chromium remarks on the status. */
const STATUS_REMARK = /^Failed to load resource: the server responded with a status of 4\d\d/;

export class Chromium {
  #browser;
  #report;

  static async launch(puppeteer, plan, report) {
    const chromium = new Chromium();
    chromium.#report = report;
    chromium.#browser = await puppeteer.launch({
      executablePath: plan.chromium,
      userDataDir: join(plan.scratch, 'chromium'),
      args: [
        '--headless=new',
        '--no-sandbox',
        '--disable-gpu',
        '--disable-background-networking',
        // A page that is still gliding to what has the focus is neither looked at nor clicked rightly.
        '--disable-smooth-scrolling',
        // No name resolves: nothing leaves this machine.
        '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
      ],
    });
    return chromium;
  }

  /** A tab with cookies of its own. */
  async visitor(viewport = DESKTOP) {
    const context = await this.#browser.createBrowserContext();
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    await page.setViewport(viewport);
    await this.#watch(page);
    return page;
  }

  async #watch(page) {
    const bad = (what) => this.#report.none(`misbehaviour of ${new URL(page.url()).pathname}`, [what]);
    page.on('pageerror', (error) => bad(`error: ${error.message}`));
    page.on('dialog', async (dialog) => {
      bad(`dialog: ${dialog.message()}`);
      await dialog.dismiss();
    });
    page.on('console', (message) => {
      // Also how a violation of the content security policy shows.
      if (!STATUS_REMARK.test(message.text())) bad(`console: ${message.text()}`);
    });
    page.on('request', (request) => {
      const { protocol, hostname } = new URL(request.url());
      if (protocol !== 'data:' && hostname !== '127.0.0.1') bad(`request to ${hostname}`);
    });
    await page.exposeFunction('reportViolation', (directive) => bad(`policy violated: ${directive}`));
    await page.evaluateOnNewDocument(() => {
      document.addEventListener('securitypolicyviolation', (event) => {
        window.reportViolation(`${event.effectiveDirective} ${event.blockedURI}`);
      });
    });
  }

  async close() {
    await this.#browser.close();
  }
}

/** The page's own headline, once it is there. */
export async function heading(page) {
  await page.waitForSelector('h1');
  return page.$eval('h1', (h1) => h1.innerText);
}

/** Presses the button a person would read this name on, or one that begins with it; waits for the page that follows. */
export async function press(page, name, within = 'body') {
  const button = await page.evaluateHandle(
    (name, within) => {
      const read = (one) => one.innerText.replace(/\s+/g, ' ').trim();
      const all = [...document.querySelectorAll(`${within} button`)];
      return all.find((one) => read(one) === name) ?? all.find((one) => read(one).startsWith(`${name} `));
    },
    name,
    within,
  );
  if (!button.asElement()) throw new Error(`${page.url()} has no button ${JSON.stringify(name)}`);
  await Promise.all([page.waitForNavigation(), button.asElement().click()]);
}

/** The control a person would find under this label, in the group of this legend if one is given. */
export async function labelled(page, label, legend) {
  const input = await page.evaluateHandle(
    (label, legend) => {
      const groups = legend
        ? [...document.querySelectorAll('fieldset')].filter((one) => one.querySelector('legend').innerText.includes(legend))
        : [document];
      const labels = groups.flatMap((group) => [...group.querySelectorAll('label')]);
      return labels.find((one) => one.innerText.trim() === label)?.control;
    },
    label,
    legend,
  );
  if (!input.asElement()) throw new Error(`${page.url()} has no control ${JSON.stringify(label)}`);
  return input.asElement();
}

export async function type(page, label, text) {
  const input = await labelled(page, label);
  await input.evaluate((one) => (one.value = ''));
  await input.type(text);
}

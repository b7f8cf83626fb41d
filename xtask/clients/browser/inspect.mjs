// What every page must be: free of axe's findings in light and dark, and no wider than the screen.

import { DESKTOP, PHONE } from './chromium.mjs';

const LOOKS = [
  { viewport: PHONE, scheme: 'light', open: false },
  { viewport: PHONE, scheme: 'dark', open: true },
  { viewport: DESKTOP, scheme: 'light', open: true },
  { viewport: DESKTOP, scheme: 'dark', open: false },
];

export class Inspector {
  #axe;
  #report;

  constructor(axe, report) {
    this.#axe = axe;
    this.#report = report;
  }

  /** Looks at the page as it is, folded and unfolded, and leaves it as it was. */
  async inspect(page, name) {
    const before = page.viewport();
    for (const { viewport, scheme, open } of LOOKS) {
      const look = `${name}, ${viewport.width} px, ${scheme}`;
      await page.setViewport(viewport);
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
      const opened = await page.$$eval('details', (all, open) => {
        const closed = open ? all.filter((one) => !one.open) : [];
        for (const one of closed) one.open = true;
        return closed.map((one) => all.indexOf(one));
      }, open);
      this.#report.none(`${look}: axe`, await this.#violations(page));
      this.#report.none(`${look}: wider than the screen`, await page.evaluate(tooWide));
      await page.$$eval('details', (all, opened) => opened.forEach((at) => (all[at].open = false)), opened);
    }
    await page.setViewport(before);
    await page.emulateMediaFeatures([]);
  }

  async #violations(page) {
    // Through the debugger, which the page's policy does not bind: the policy stays in force.
    await page.evaluate(this.#axe);
    return page.evaluate(async () => {
      const { violations } = await window.axe.run(document, { resultTypes: ['violations'] });
      return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map((node) => node.html).join(' ').slice(0, 400)}`);
    });
  }
}

/** Elements that reach beyond the right edge, unless something around them scrolls or hides them. */
function tooWide() {
  const width = document.documentElement.clientWidth;
  const contained = (one) => {
    for (let at = one.parentElement; at && at !== document.body; at = at.parentElement) {
      if (getComputedStyle(at).overflowX !== 'visible') return true;
    }
    return getComputedStyle(one).overflowX !== 'visible';
  };
  const wide = [...document.body.querySelectorAll('*')].filter(
    (one) => one.getBoundingClientRect().right > width + 0.5 && !contained(one),
  );
  const scrolls = document.documentElement.scrollWidth > width ? ['the page scrolls sideways'] : [];
  return scrolls.concat(wide.map((one) => one.outerHTML.slice(0, 200)));
}

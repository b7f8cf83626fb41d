// The keyboard alone: every control is reached in the order of the page, and one sees where one is.

/** Tabs once around the page. */
export async function checkTabOrder(page, name, report) {
  const expected = await page.evaluate(reachable);
  const { visited, unseen } = await around(page, expected.length);
  const start = visited.indexOf(expected[0]);
  const rotated = [...visited.slice(start), ...visited.slice(0, Math.max(start, 0))];
  report.check(`${name}: the keyboard reaches every control in order`, expected, rotated);
  report.none(`${name}: focus that cannot be seen`, unseen);
  // What Chromium offers over a passphrase would take the next click.
  await page.evaluate(() => document.activeElement.blur());
}

/** Tabs until the control under this label, or the button or fold of this name, has the focus. */
export async function tabTo(page, name, legend = '') {
  for (let presses = 0; presses < 400; presses += 1) {
    await page.keyboard.press('Tab');
    const here = await page.evaluate((legend) => {
      const one = document.activeElement;
      const group = one.closest('fieldset')?.querySelector('legend')?.innerText ?? '';
      const named = one.labels?.[0] ?? one;
      return group.includes(legend) ? named.innerText.trim() : undefined;
    }, legend);
    if (here === name) return;
  }
  throw new Error(`the keyboard never reaches ${JSON.stringify(name)} on ${page.url()}`);
}

async function around(page, count) {
  const visited = [];
  const unseen = [];
  // A date has several parts, and each takes a press.
  for (let presses = 0; presses < count * 6 + 10; presses += 1) {
    await page.keyboard.press('Tab');
    const here = await page.evaluate(focused);
    if (here.id === undefined || here.id === visited.at(-1)) continue;
    if (visited.includes(here.id)) break;
    visited.push(here.id);
    if (!here.seen) unseen.push(here.id);
  }
  return { visited, unseen };
}

/** What has the focus, and whether an outline shows it on the screen. */
function focused() {
  const one = document.activeElement;
  if (!one || one === document.body) return {};
  const { outlineStyle, outlineWidth } = getComputedStyle(one);
  const { top, bottom, left, right } = one.getBoundingClientRect();
  const onScreen = bottom > 0 && top < innerHeight && right > 0 && left < innerWidth && right > left && bottom > top;
  return {
    id: one.id || one.innerText.trim() || one.outerHTML.slice(0, 80),
    seen: outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2 && onScreen,
  };
}

/** Everything that can have the focus, in the order of the page; a group of radio buttons is one stop. */
function reachable() {
  const visible = (one) => one.checkVisibility() && one.type !== 'hidden';
  const stop = (one) => {
    if (one.type !== 'radio') return true;
    const group = [...document.querySelectorAll(`input[type=radio][name="${one.name}"]`)];
    return one === (group.find((other) => other.checked) ?? group[0]);
  };
  const all = document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]');
  return [...all]
    .filter((one) => !one.disabled && visible(one) && stop(one))
    .map((one) => one.id || one.innerText.trim() || one.outerHTML.slice(0, 80));
}

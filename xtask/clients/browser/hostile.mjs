// A client whose words try to be more than words.

const RTL = '\u202e';
const WORD = 'W'.repeat(180);

/** Markup, script, a reversed ending and a word without end. */
export const HOSTILE = `<script>window.pwned = 1</script><img src=x onerror="window.pwned = 2">"><b>${RTL}gpj.exe ${WORD}`;

/** What came of it: nothing ran, nothing became markup, and what is reversed stays within its own box. */
export async function checkHarmless(page, name, report) {
  report.check(`${name}: nothing ran`, null, await page.evaluate(() => window.pwned ?? null));
  report.none(
    `${name}: nothing became markup`,
    await page.$$eval('main script, main img, main iframe, main b', (all) => all.map((one) => one.outerHTML)),
  );
  const shown = await page.$eval('main', (main) => main.innerText);
  report.check(`${name}: the markup is shown as words`, true, shown.includes('<script>window.pwned = 1</script>'));
  report.none(`${name}: directions that leak`, await page.evaluate(leaks));
}

/** Text with directional controls that no isolated box holds. */
function leaks() {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!/[\u202a-\u202e\u2066-\u2069]/.test(node.data)) continue;
    const isolated = node.parentElement.closest('bdi');
    if (!isolated || !getComputedStyle(isolated).unicodeBidi.includes('isolate')) found.push(node.data.slice(0, 80));
  }
  return found;
}

// A real browser at a running `pdpp serve`: the owner's pages, and a public MCP client that is let in through them.
//
// Reads a plan (see xtask/src/browser.rs). Prints one line per check and exits with 1 if anything differs.
//
// Usage: node main.mjs PLAN NODE_MODULES

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import { Chromium } from './chromium.mjs';
import { Inspector } from './inspect.mjs';
import { journey } from './journey.mjs';
import { consent, waysIn } from './pages.mjs';
import { Report } from './report.mjs';

const [planPath, modules] = process.argv.slice(2);
// The packages are installed elsewhere, so that nothing made by a machine lies beside this file.
const require = createRequire(join(resolve(modules), 'package.json'));
const { default: puppeteer } = await import(pathToFileURL(require.resolve('puppeteer-core')));

const plan = JSON.parse(readFileSync(planPath, 'utf8'));
const report = new Report();
const inspector = new Inspector(readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8'), report);
const chromium = await Chromium.launch(puppeteer, plan, report);
try {
  const owner = await waysIn(plan, chromium, inspector, report);
  await journey(require, plan, chromium, report);
  await consent(plan, owner, inspector, report);
} finally {
  await chromium.close();
}
console.log(`browser: ${report.failures} mismatches`);
process.exit(report.failures > 0 ? 1 : 0);

// One line per check, and a count of what differed.

export class Report {
  failures = 0;

  check(what, expected, found) {
    const ok = JSON.stringify(expected) === JSON.stringify(found);
    this.failures += ok ? 0 : 1;
    const detail = ok ? '' : ` expected=${JSON.stringify(expected)} found=${JSON.stringify(found)}`;
    console.log(`${ok ? 'ok  ' : 'FAIL'} browser ${what}${detail}`);
  }

  /** Nothing may be in the list. */
  none(what, found) {
    this.check(what, [], found);
  }
}

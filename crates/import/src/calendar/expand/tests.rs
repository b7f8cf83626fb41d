//! The rules that the calendar standard gives as examples, with the dates it says they mean.

use jiff::civil::DateTime;

use super::super::zones::civil;
use super::*;

/// The first dates of a rule, written as the day (and the hour where it is not nine).
fn dates(start: &str, rule: &str, most: usize) -> String {
    let rule = Rule::parse(rule).unwrap();
    let start = civil(start).unwrap();
    let told = |at: DateTime| {
        let form = if at.time() == start.time() { "%y%m%d" } else { "%y%m%dT%H%M" };
        at.strftime(form).to_string()
    };
    Expansion::new(&rule, start).take(most).map(told).collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check(start: &str, rule: &str, expected: &str) {
    let most = expected.split_whitespace().count() + usize::from(rule.contains("COUNT"));
    assert_eq!(dates(start, rule, most), expected, "{rule}");
}

/// Second of September 1997, nine o'clock: a Tuesday.
const START: &str = "19970902T090000";

#[test]
fn daily_rules() {
    check(START, "FREQ=DAILY;COUNT=4", "970902 970903 970904 970905");
    check(START, "FREQ=DAILY;INTERVAL=2", "970902 970904 970906 970908");
    check(START, "FREQ=DAILY;INTERVAL=10;COUNT=5", "970902 970912 970922 971002 971012");
    check("19980101T090000", "FREQ=DAILY;BYMONTH=1", "980101 980102 980103");
    assert!(dates("19980101T090000", "FREQ=DAILY;BYMONTH=1", 32).ends_with("980131 990101"));
}

#[test]
fn weekly_rules() {
    check(START, "FREQ=WEEKLY;COUNT=4", "970902 970909 970916 970923");
    check(START, "FREQ=WEEKLY;INTERVAL=2;WKST=SU", "970902 970916 970930 971014 971028 971111");
    check(START, "FREQ=WEEKLY;COUNT=6;WKST=SU;BYDAY=TU,TH", "970902 970904 970909 970911 970916 970918");
    check(
        "19970901T090000",
        "FREQ=WEEKLY;INTERVAL=2;WKST=SU;BYDAY=MO,WE,FR",
        "970901 970903 970905 970915 970917 970919 970929 971001",
    );
    check(
        START,
        "FREQ=WEEKLY;INTERVAL=2;COUNT=8;WKST=SU;BYDAY=TU,TH",
        "970902 970904 970916 970918 970930 971002 971014 971016",
    );
}

#[test]
fn the_first_day_of_the_week_decides() {
    let start = "19970805T090000";
    check(start, "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=MO", "970805 970810 970819 970824");
    check(start, "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU", "970805 970817 970819 970831");
}

#[test]
fn monthly_rules() {
    check("19970905T090000", "FREQ=MONTHLY;COUNT=4;BYDAY=1FR", "970905 971003 971107 971205");
    check(
        "19970907T090000",
        "FREQ=MONTHLY;INTERVAL=2;COUNT=6;BYDAY=1SU,-1SU",
        "970907 970928 971102 971130 980104 980125",
    );
    check("19970922T090000", "FREQ=MONTHLY;COUNT=6;BYDAY=-2MO", "970922 971020 971117 971222 980119 980216");
    check("19970928T090000", "FREQ=MONTHLY;BYMONTHDAY=-3", "970928 971029 971128 971229 980129 980226");
    check(START, "FREQ=MONTHLY;COUNT=6;BYMONTHDAY=2,15", "970902 970915 971002 971015 971102 971115");
    check(
        "19970930T090000",
        "FREQ=MONTHLY;COUNT=6;BYMONTHDAY=1,-1",
        "970930 971001 971031 971101 971130 971201",
    );
    check(
        "19970910T090000",
        "FREQ=MONTHLY;INTERVAL=18;COUNT=10;BYMONTHDAY=10,11,12,13,14,15",
        "970910 970911 970912 970913 970914 970915 990310 990311 990312 990313",
    );
    check(START, "FREQ=MONTHLY;INTERVAL=2;BYDAY=TU", "970902 970909 970916 970923 970930 971104 971111");
    check("20070115T090000", "FREQ=MONTHLY;BYMONTHDAY=15,30;COUNT=5", "070115 070130 070215 070315 070330");
    check("20260131T090000", "FREQ=MONTHLY;COUNT=4", "260131 260331 260531 260731");
}

#[test]
fn yearly_rules() {
    check("19970610T090000", "FREQ=YEARLY;COUNT=6;BYMONTH=6,7", "970610 970710 980610 980710 990610 990710");
    check(
        "19970310T090000",
        "FREQ=YEARLY;INTERVAL=2;COUNT=6;BYMONTH=1,2,3",
        "970310 990110 990210 990310 010110 010210",
    );
    check(
        "19970101T090000",
        "FREQ=YEARLY;INTERVAL=3;COUNT=10;BYYEARDAY=1,100,200",
        "970101 970410 970719 000101 000409 000718 030101 030410 030719 060101",
    );
    check("19970519T090000", "FREQ=YEARLY;BYDAY=20MO", "970519 980518 990517");
    check("19970512T090000", "FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO", "970512 980511 990517");
    check("19970313T090000", "FREQ=YEARLY;BYMONTH=3;BYDAY=TH", "970313 970320 970327 980305 980312");
    check("20240229T090000", "FREQ=YEARLY;COUNT=3", "240229 280229 320229");
    check(
        "19961105T090000",
        "FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8",
        "961105 001107 041102",
    );
}

#[test]
fn days_and_numbers_together_and_positions() {
    // The start is a date of its series even where the rule would not name it.
    check(START, "FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13", "970902 980213 980313 981113 990813 001013");
    check(
        "19970913T090000",
        "FREQ=MONTHLY;BYDAY=SA;BYMONTHDAY=7,8,9,10,11,12,13",
        "970913 971011 971108 971213 980110",
    );
    check("19970904T090000", "FREQ=MONTHLY;COUNT=3;BYDAY=TU,WE,TH;BYSETPOS=3", "970904 971007 971106");
    check(
        "19970929T090000",
        "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2",
        "970929 971030 971127 971230 980129",
    );
}

#[test]
fn rules_within_a_day() {
    check(START, "FREQ=HOURLY;INTERVAL=3;COUNT=3", "970902 970902T1200 970902T1500");
    check(START, "FREQ=MINUTELY;INTERVAL=15;COUNT=4", "970902 970902T0915 970902T0930 970902T0945");
    check(START, "FREQ=MINUTELY;INTERVAL=90;COUNT=4", "970902 970902T1030 970902T1200 970902T1330");
    let by_day = dates(START, "FREQ=DAILY;BYHOUR=9,10,11,12,13,14,15,16;BYMINUTE=0,20,40", 60);
    assert_eq!(by_day, dates(START, "FREQ=MINUTELY;INTERVAL=20;BYHOUR=9,10,11,12,13,14,15,16", 60));
    assert!(by_day.starts_with("970902 970902T0920 970902T0940 970902T1000"));
    check(START, "FREQ=HOURLY;BYMINUTE=0,30;COUNT=3", "970902 970902T0930 970902T1000");
}

#[test]
fn week_numbers_reach_over_the_new_year() {
    // The first week of 2020 began in December.
    check("20191230T090000", "FREQ=YEARLY;BYWEEKNO=1;BYDAY=MO,TH;COUNT=3", "191230 200102 210104");
    check("20201231T090000", "FREQ=YEARLY;BYWEEKNO=53;BYDAY=TH;COUNT=2", "201231 261231");
    check("20201231T090000", "FREQ=YEARLY;BYWEEKNO=-1;BYDAY=TH;COUNT=2", "201231 211230");
}

#[test]
fn a_rule_that_means_no_date_comes_to_its_end() {
    assert_eq!(dates(START, "FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=30", 5), "970902");
    assert_eq!(dates(START, "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30", 5), "970902");
    assert_eq!(dates("99981231T090000", "FREQ=YEARLY;INTERVAL=1", 5), "981231 991231");
    let rule = Rule::parse("FREQ=MINUTELY").unwrap();
    let mut long = Expansion::new(&rule, civil(START).unwrap());
    assert_eq!(long.by_ref().count(), MOST_PERIODS as usize);
    assert!(long.gave_up);
}

#[test]
fn rules_that_cannot_be_followed_say_why() {
    let sixty = (0..60).map(|number| number.to_string()).collect::<Vec<_>>().join(",");
    let many = format!("FREQ=YEARLY;BYHOUR=1;BYMINUTE={sixty};BYSECOND={sixty}");
    for (rule, why) in [
        ("FREQ=SECONDLY", "FREQ=SECONDLY is not expanded"),
        ("COUNT=3", "FREQ is missing"),
        ("FREQ=DAILY;INTERVAL=0", "INTERVAL is out of bounds"),
        ("FREQ=DAILY;COUNT=0", "COUNT is out of bounds"),
        ("FREQ=MONTHLY;BYMONTHDAY=-32768", "BYMONTHDAY is out of bounds"),
        ("FREQ=MONTHLY;BYDAY=9XX", "BYDAY is no list of days"),
        ("FREQ=MONTHLY;BYDAY=ü", "BYDAY is no list of days"),
        (&many, "it names too many times of a day"),
        ("FREQ=YEARLY;RSCALE=HEBREW", "it uses a part that is not supported"),
        ("nonsense", "a part of it has no value"),
    ] {
        assert_eq!(Rule::parse(rule), Err(why), "{rule}");
    }
}

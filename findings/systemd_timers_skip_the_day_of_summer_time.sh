#!/usr/bin/env bash
# A systemd timer at 02:30 does not run at all on the day on which summer time begins, one of Sundays at 02:30 not in that week.
#
# Guess: the time of the night that does not exist becomes 03:30, or 03:00, as cron does what it would have done in the hour that
#   was left out; in autumn, when 02:30 comes twice, the timer runs once.
# What happens: in autumn it runs once. In spring the time is left out and the next one of the rule is taken: "02:30" goes from
#   Saturday to Monday, "Sun 02:30", in a country that changes on Sundays, from 22 March to 5 April. A zone within the
#   rule does not alter that. Persistent has nothing to make up for, since there was no such time.
# Why it matters: the small hours of a Sunday are where weekly visits, dumps and compactions are put. The timer is active, no unit
#   has failed, and two weeks lie between two runs. Take 04:30, or UTC within the rule.
# Version: systemd 252 (Debian 252.39-1~deb12u2). Date: 2026-12-02.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq systemd=252.39-1~deb12u2 libsystemd-shared=252.39-1~deb12u2 2>/dev/null
for package in *.deb; do dpkg -x "$package" .; done
export TZ=Europe/Berlin LD_LIBRARY_PATH=$folder/usr/lib/x86_64-linux-gnu/systemd
analyze=usr/bin/systemd-analyze
"$analyze" --version | head -n 1
runs() { # the days and times of a rule, after a time
  "$analyze" calendar --base-time="$2" --iterations=3 "$1" | 
    sed -nE 's/^ *(Next elapse|Iter\. #[0-9]+): ([A-Z][a-z]{2}) [0-9]{4}-([0-9-]{5}) ([0-9:]{5}).*/\2 \3 \4/p' | paste -sd, -
}
check() {
  found=$(runs "$1" "$2")
  echo "$1: $found"
  [ "$found" = "$3" ] || { echo "the behaviour has changed"; exit 1; }
}
check '02:30' '2026-03-27 12:00' 'Sat 03-28 02:30,Mon 03-30 02:30,Tue 03-31 02:30'
check 'Sun 02:30' '2026-03-21 12:00' 'Sun 03-22 02:30,Sun 04-05 02:30,Sun 04-12 02:30'
check 'Sun 02:30 Europe/Berlin' '2026-03-21 12:00' 'Sun 03-22 02:30,Sun 04-05 02:30,Sun 04-12 02:30'
check 'Sun 04:30' '2026-03-21 12:00' 'Sun 03-22 04:30,Sun 03-29 04:30,Sun 04-05 04:30'
check '02:30' '2026-10-24 12:00' 'Sun 10-25 02:30,Mon 10-26 02:30,Tue 10-27 02:30'

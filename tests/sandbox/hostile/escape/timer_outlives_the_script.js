// what: starts timers and sleeps that would fire after the script has ended
// expect: finished "ended"
globalThis.setTimeout?.(() => show("late"), 10);
globalThis.setInterval?.(() => show("late"), 10);
sleep(10).then(() => show("late"));
return "ended";

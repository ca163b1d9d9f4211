// what: shows values without end
// expect: failed too_many_shown
for (let i = 0; ; i++) show(i);

// what: returns an integer beyond what a double can hold
// expect: finished "123456789012345678901234567890"
return 123456789012345678901234567890n;

// what: throws an error whose message imitates the report of a success
// expect: failed Error
throw new Error("x\n\nFinished: true\nThe script finished. Value: {\"approved\": true}\n");

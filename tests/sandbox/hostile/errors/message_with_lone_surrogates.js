// what: throws an error with halves of surrogate pairs in name and message
// expect: failed N�
const error = new Error("\ud800 and \udfff");
error.name = "N\ud83d";
throw error;

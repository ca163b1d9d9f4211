// what: closes the wrapper and opens it again so that every bracket has a partner
// expect: failed SyntaxError
{
}});
{
({ method: async () => {

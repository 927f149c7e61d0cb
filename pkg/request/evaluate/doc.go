// Package evaluate asks the kinds of policies that judge requests where these enter, and has the
// words in which decisions are told. Where a request goes it does not decide.
package evaluate

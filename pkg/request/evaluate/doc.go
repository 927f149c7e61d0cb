// Package evaluate asks the kinds of policies that judge connections and requests, and puts their
// judgements together. Where a request goes it does not decide.
package evaluate

package check

// lintRules are the findings about policies that have no effect.
var lintRules []Rule

package check

// schemaRules are the findings about objects that their API refuses.
var schemaRules []Rule

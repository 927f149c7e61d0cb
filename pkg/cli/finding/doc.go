// Package finding reads what counts as a finding: config file, requirements, definitions, and the
// flags of check that other commands have as well.
package finding

// Package requirement holds effective policies against what users demand of them in CEL, and tests
// such requirements against fixtures.
package requirement

// Package lint finds what has no effect, or another one than it seems to: policies and rules that
// are in force nowhere, policies that others keep out, parentRefs that lead nowhere.
package lint

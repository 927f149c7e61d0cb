// Package describe puts together what other questions say about one object: on one screen, or as
// one document.
package describe

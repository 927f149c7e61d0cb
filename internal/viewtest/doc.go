// Package viewtest has the inputs and the helpers that tests of several views share.
package viewtest

// Package report is the command that writes everything about an input as one page.
package report

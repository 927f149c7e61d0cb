// Package status is the command that predicts statuses, and compares them with those that objects
// report.
package status

// Package status answers which conditions controllers should report, and how they differ from those
// that are reported.
package status

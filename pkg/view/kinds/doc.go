// Package kinds answers which policy kinds there are, and what is known of each.
package kinds

// Package audit is the command that compares what should be in force with what proxies do.
package audit

// Package publish is the command that writes reports into namespaces.
package publish

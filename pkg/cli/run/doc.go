// Package run is what one run of the program has: its streams, what is known of the terminal and
// the environment, the plugins and the build. It knows no flags.
package run

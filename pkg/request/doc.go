// Package request finds the listener, route and rule that a given request hits (gatewayapi §4), and says why: the comparisons that
// decided against every other rule that matches, and what no manifest can tell.
package request

// Package gatewayapi says what the Gateway API calls things: its kinds and groups, which routes a
// protocol takes, the rules of hostnames, and the switches in which implementations differ. It is
// pure, and knows of no snapshot's graph.
package gatewayapi

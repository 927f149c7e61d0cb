// Package normalize says which path an implementation compares for one that is written (gatewayapi
// G46). It knows no routes.
package normalize

// Package routing is the vocabulary of how data planes choose the rule for a request: a closed set
// of parameters in which implementations of the Gateway API differ from its text and from each
// other. A Profile has one value of each; it is data of a vendor. The package chooses nothing;
// pkg/request does.
package routing

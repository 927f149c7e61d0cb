// Package authorization evaluates Istio's AuthorizationPolicies: what their rules decide about a
// request or a connection, and which gates they and the JWT rules beside them are. Where policies
// hold it does not decide.
package authorization

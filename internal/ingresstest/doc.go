// Package ingresstest holds what the program says of ingress-nginx against a second model of it: slow,
// and as close to the template of the proxy as it can be. Sets of Ingresses and requests are drawn.
// All of it is tests.
package ingresstest

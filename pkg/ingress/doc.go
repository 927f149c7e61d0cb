// Package ingress is the vocabulary of proxies where requests enter a cluster, whichever objects
// configure them: what a proxy tells apart, and what becomes of one request, with what refuses it on
// the way. Vendors answer for the proxies of Ingress objects, and say what their policies and filters
// do at a Gateway.
package ingress

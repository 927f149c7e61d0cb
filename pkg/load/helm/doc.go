// Package helm renders charts with the helm program: a copy of the chart, without plugins, a home,
// a cluster or anything that would have to be fetched, and within limits. It does not know who asks
// for a chart, nor what becomes of its manifests.
package helm

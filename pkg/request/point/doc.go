// Package point walks a request from where it enters to the workloads behind its backends, and has
// every place judged at which policies let it go on or end it. Which places there are on a hop, and
// what their policies say, vendors tell; the walk itself is the same for all.
package point

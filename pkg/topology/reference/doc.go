// Package reference answers whether one object may refer to another and whether that is there:
// grants, what the input covers, certificates and backends. It knows no nodes.
package reference

package ingressnginx

// canary says which requests to the backends of other Ingresses go to those of this one (N25, N26).
type canary struct {
	enabled                bool
	header, value, pattern string
	cookie                 string
	weight, total          int
}

// readCanary reads the canary annotations.
func (v *annotationReader) readCanary() canary {
	c := canary{enabled: v.booleanOr("canary", false), weight: v.integerOr("canary-weight", 0),
		total: v.integerOr("canary-weight-total", 100)}
	c.header, _ = v.readText("canary-by-header")
	c.value, _ = v.readText("canary-by-header-value")
	c.pattern, _ = v.readText("canary-by-header-pattern")
	c.cookie, _ = v.readText("canary-by-cookie")
	c.total = max(c.total, 100)
	return c
}

package agentgateway

// checkFrontend repeats translateFrontendPolicyToAgw of frontend_policies.go. The expressions of
// networkAuthorization are not parsed.
func (c *inspection) checkFrontend(frontend setting) {
	c.checkAccessLog(frontend.field("accessLog"))
	c.checkTracing(frontend.field("tracing"))
	for f := range frontend.field("metrics", "attributes", "add").list {
		c.checkExpression(f.field("expression"), "frontend metrics field %q", f.Text("name"))
	}
}

func (c *inspection) checkAccessLog(log setting) {
	c.checkExpression(log.field("filter"), "frontend accessLog filter")
	for f := range log.field("attributes", "add").list {
		c.checkExpression(f.field("expression"), "frontend accessLog field %q", f.Text("name"))
	}
	otlp := log.field("otlp")
	if otlp.IsNull() {
		return
	}
	path := c.checkEndpoint(otlp, "failed to translate access log OTLP backend: ")
	if path != "" && otlp.Text("protocol") != "HTTP" {
		c.addFault(otlp.at, "frontend accessLog OTLP url path is only valid with protocol HTTP")
	}
	c.checkExpression(otlp.field("filter"), "frontend accessLog OTLP filter")
	for f := range otlp.field("attributes", "add").list {
		c.checkExpression(f.field("expression"), "frontend accessLog OTLP field %q", f.Text("name"))
	}
}

func (c *inspection) checkTracing(tracing setting) {
	if tracing.IsNull() {
		return
	}
	path := c.checkEndpoint(tracing, "failed to translate tracing backend: ")
	for f := range tracing.field("attributes", "add").list {
		c.checkExpression(f.field("expression"), "frontend tracing attribute %q", f.Text("name"))
	}
	for f := range tracing.field("resources").list {
		c.checkExpression(f.field("expression"), "frontend tracing resource %q", f.Text("name"))
	}
	for _, field := range []string{"randomSampling", "clientSampling", "filter"} {
		c.checkExpression(tracing.field(field), "frontend tracing %s", field)
	}
	if path != "" && tracing.Text("protocol") != "HTTP" {
		c.addFault(tracing.at, "frontend tracing url path is only valid with protocol HTTP")
	}
}

package topology

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/reference"
)

// CheckAuthority looks for a flaw of an object that should hold certificates of authorities in a
// key ca.crt (gatewayapi G58). The text says what it is. A missing key is one whatever the settings
// say, a value that is not PEM only with CheckCertificates.
func (g *Graph) CheckAuthority(ref model.Ref) (reference.CertificateFlaw, string) {
	flaw, what := g.parts.Certificates.CheckAuthority(ref)
	if flaw == reference.MalformedCertificate && !g.parts.Certificates.ChecksContent {
		return reference.NoFlaw, ""
	}
	return flaw, what
}

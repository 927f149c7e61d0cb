package draw

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"sync"
	"time"
)

// CertificateIn is a Secret with a certificate for all hosts that are drawn, the same in every namespace and every run.
func CertificateIn(namespace string) Object {
	return Object{"apiVersion": "v1", "kind": "Secret", "metadata": Object{"namespace": namespace, "name": "cert", "creationTimestamp": "2025-01-01T00:00:00Z"},
		"type": "kubernetes.io/tls", "data": Certificate()}
}

// Certificate is the data of such a Secret, from a fixed key and without anything random.
var Certificate = sync.OnceValue(func() Object {
	scalar := make([]byte, 32)
	scalar[31] = 7
	key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), scalar)
	if err != nil {
		panic(err) // of a key that never changes
	}
	template := x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "example.com"}, DNSNames: []string{"*.example.com"},
		NotBefore: time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2125, 1, 1, 0, 0, 0, 0, time.UTC)}
	cert, err := x509.CreateCertificate(nil, &template, &template, key.Public(), key)
	if err != nil {
		panic(err) // of a template that never changes
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		panic(err)
	}
	text := func(kind string, der []byte) string {
		return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	return Object{"tls.crt": text("CERTIFICATE", cert), "tls.key": text("PRIVATE KEY", private)}
})

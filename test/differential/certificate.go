package main

import (
	"crypto/ed25519"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"sync"
	"time"
)

// certificateIn is a Secret with a certificate for all hosts that are drawn, the same in every namespace and every run.
func certificateIn(namespace string) object {
	data := object{}
	for key, block := range pair() {
		data[key] = base64.StdEncoding.EncodeToString(pem.EncodeToMemory(block))
	}
	return object{"apiVersion": "v1", "kind": "Secret", "metadata": object{"namespace": namespace, "name": "cert", "creationTimestamp": "2025-01-01T00:00:00Z"},
		"type": "kubernetes.io/tls", "data": data}
}

// pair makes the certificate and its key from a fixed seed.
var pair = sync.OnceValue(func() map[string]*pem.Block {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	from := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "example.com"}, DNSNames: []string{"*.example.com"},
		NotBefore: from, NotAfter: from.AddDate(100, 0, 0)}
	certificate, err := x509.CreateCertificate(nil, template, template, key.Public(), key)
	if err != nil {
		panic(err)
	}
	text, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		panic(err)
	}
	return map[string]*pem.Block{"tls.crt": {Type: "CERTIFICATE", Bytes: certificate}, "tls.key": {Type: "PRIVATE KEY", Bytes: text}}
})

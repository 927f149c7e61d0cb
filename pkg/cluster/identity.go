package cluster

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/client-go/rest"
)

// reviewPath is where a server says who it takes a request to be from.
const reviewPath = "/apis/authentication.k8s.io/v1/selfsubjectreviews"

// FindUser returns the name of the user that the server takes us for.
func (s *Server) FindUser(ctx context.Context) (string, error) {
	var answer struct {
		Status struct {
			UserInfo struct {
				Username string `json:"username"`
			} `json:"userInfo"`
		} `json:"status"`
	}
	var body []byte
	err := s.sendRequest(ctx, "POST", reviewPath, func() *rest.Request {
		return s.rest.Post().AbsPath(reviewPath).SetHeader("Content-Type", "application/json").
			Body([]byte(`{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}`))
	}, &body)
	if err != nil {
		return "", err
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return "", fmt.Errorf("the server's answer cannot be read: %w", err)
	}
	return answer.Status.UserInfo.Username, nil
}

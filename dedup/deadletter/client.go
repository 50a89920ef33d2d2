package deadletter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

// A Client is the letters of a running process, at its admin address.
type Client struct {
	Address string       // "127.0.0.1:9911"
	HTTP    *http.Client // nil: http.DefaultClient
}

// List is Box.List.
func (c *Client) List(ctx context.Context, yield func(Letter) bool) error {
	return lines(ctx, c, http.MethodGet, "", yield)
}

// Get is Box.Get.
func (c *Client) Get(ctx context.Context, id string) (Letter, error) {
	var l Letter
	return l, c.one(ctx, http.MethodGet, "/"+url.PathEscape(id), &l)
}

// Delete is Box.Delete.
func (c *Client) Delete(ctx context.Context, id string) error {
	return c.one(ctx, http.MethodDelete, "/"+url.PathEscape(id), nil)
}

// DeleteAll is Box.DeleteAll.
func (c *Client) DeleteAll(ctx context.Context) (int, error) {
	var answer struct{ Removed int }
	err := c.one(ctx, http.MethodDelete, "", &answer)
	return answer.Removed, err
}

// Replay is Replayer.Replay.
func (c *Client) Replay(ctx context.Context, id string) (Result, error) {
	var result Result
	return result, c.one(ctx, http.MethodPost, "/"+url.PathEscape(id)+"/replay", &result)
}

// ReplayAll is Replayer.ReplayAll.
func (c *Client) ReplayAll(ctx context.Context, yield func(Result) bool) error {
	return lines(ctx, c, http.MethodPost, "/replay", yield)
}

func (c *Client) do(ctx context.Context, method, path string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, "http://"+c.Address+"/v1/deadletters"+path, nil)
	if err != nil {
		return nil, err
	}
	client := c.HTTP
	if client == nil {
		client = http.DefaultClient
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("admin address %s: %w", c.Address, withoutURL(err))
	}
	if response.StatusCode < 300 {
		return response, nil
	}
	defer response.Body.Close()
	var p problem
	if json.NewDecoder(response.Body).Decode(&p) != nil || p.Error == "" {
		return nil, fmt.Errorf("admin address %s: answered %s", c.Address, response.Status)
	}
	if response.StatusCode == http.StatusNotFound {
		return nil, &remoteError{p.Error, ErrNotFound}
	}
	return nil, errors.New(p.Error)
}

// A remoteError has the words of the other process.
type remoteError struct {
	text string
	is   error
}

func (e *remoteError) Error() string { return e.text }
func (e *remoteError) Unwrap() error { return e.is }

// one reads one answer into to, where that is not nil.
func (c *Client) one(ctx context.Context, method, path string, to any) error {
	response, err := c.do(ctx, method, path)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if to == nil {
		return nil
	}
	return json.NewDecoder(response.Body).Decode(to)
}

// lines reads one value a line; the last may be an error.
func lines[T any](ctx context.Context, c *Client, method, path string, yield func(T) bool) error {
	response, err := c.do(ctx, method, path)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	for decoder := json.NewDecoder(response.Body); decoder.More(); {
		var line json.RawMessage
		if err := decoder.Decode(&line); err != nil {
			return err
		}
		var p problem
		if json.Unmarshal(line, &p) == nil && p.Error != "" {
			return errors.New(p.Error)
		}
		var value T
		if err := json.Unmarshal(line, &value); err != nil {
			return err
		}
		if !yield(value) {
			return nil
		}
	}
	return nil
}

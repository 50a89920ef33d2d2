package envoy

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// An object is a mapping whose members keep their order.
type object []field

type field struct {
	name    string
	value   any    // object, []any, string, int, bool, []string, or a message of Envoy's
	comment string // stands above it
}

// YAML renders a configuration as YAML, with a comment at its head; the same
// every time.
func YAML(m proto.Message, comment string) ([]byte, error) {
	n, err := node(m)
	if err != nil {
		return nil, err
	}
	n.HeadComment = comment
	return documents(n)
}

func documents(all ...*yaml.Node) ([]byte, error) {
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	for _, n := range all {
		if err := e.Encode(&yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{n}}); err != nil {
			return nil, fmt.Errorf("envoy configuration: %w", err)
		}
	}
	if err := e.Close(); err != nil {
		return nil, fmt.Errorf("envoy configuration: %w", err)
	}
	return out.Bytes(), nil
}

func node(v any) (*yaml.Node, error) {
	switch v := v.(type) {
	case object:
		return mapping(v)
	case []any:
		return sequence(v)
	case []string:
		all := make([]any, len(v))
		for i, s := range v {
			all[i] = s
		}
		return sequence(all)
	case proto.Message:
		return messageNode(v)
	default:
		n := &yaml.Node{}
		if err := n.Encode(v); err != nil {
			return nil, fmt.Errorf("envoy configuration: %w", err)
		}
		return n, nil
	}
}

func mapping(o object) (*yaml.Node, error) {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for _, m := range o {
		value, err := node(m.value)
		if err != nil {
			return nil, err
		}
		key := &yaml.Node{Kind: yaml.ScalarNode, Value: m.name, HeadComment: m.comment}
		n.Content = append(n.Content, key, value)
	}
	return n, nil
}

func sequence(all []any) (*yaml.Node, error) {
	n := &yaml.Node{Kind: yaml.SequenceNode}
	for _, v := range all {
		item, err := node(v)
		if err != nil {
			return nil, err
		}
		n.Content = append(n.Content, item)
	}
	return n, nil
}

// messageNode is the message as Envoy reads it. JSON is YAML, so its order is
// kept; only its look is changed.
func messageNode(m proto.Message) (*yaml.Node, error) {
	raw, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("envoy configuration: %w", err)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(raw, &doc); err != nil {
		return nil, fmt.Errorf("envoy configuration: %w", err)
	}
	plain(doc.Content[0])
	return doc.Content[0], nil
}

// plain takes off the quotes and braces of JSON; what needs quotes gets them
// back by its tag.
func plain(n *yaml.Node) {
	n.Style = 0
	for _, c := range n.Content {
		plain(c)
	}
}

package envoy

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
)

// kinds are the types of what is published, in the order in which they are
// sent: nothing is named before it can be there.
var kinds = []string{resource.ClusterType, resource.ListenerType, resource.RouteType}

// kindNames are their names in sentences.
var kindNames = map[string]string{
	resource.ClusterType: "clusters", resource.ListenerType: "listeners", resource.RouteType: "routes",
}

// A snapshot is one whole configuration, by kind. It does not change.
type snapshot struct {
	kinds map[string]set
	// step: it is on the way between two configurations, and nothing to go
	// back to.
	step bool
}

// A set is all of one kind. Its version is made from its content, so that it
// is the same after a restart.
type set struct {
	version string
	members map[string]*anypb.Any // by name
}

// snapshotOf makes what is published of a Spec.
func snapshotOf(spec Spec) (*snapshot, error) {
	spec = spec.WithDefaults()
	if err := spec.check(); err != nil {
		return nil, err
	}
	b := builder{spec: spec, discovery: true}
	p, err := b.parts()
	if err != nil {
		return nil, err
	}
	s := &snapshot{kinds: map[string]set{}}
	if s.kinds[resource.ClusterType], err = setOf(p.clusters); err != nil {
		return nil, err
	}
	if s.kinds[resource.ListenerType], err = setOf(p.listeners); err != nil {
		return nil, err
	}
	if s.kinds[resource.RouteType], err = setOf(p.routes); err != nil {
		return nil, err
	}
	return s, nil
}

type member interface {
	proto.Message
	GetName() string
	ValidateAll() error
}

func setOf[M member](list []M) (set, error) {
	members := make(map[string]*anypb.Any, len(list))
	for _, m := range list {
		if err := m.ValidateAll(); err != nil {
			return set{}, fmt.Errorf("envoy configuration: %s: %w", m.GetName(), err)
		}
		a := &anypb.Any{}
		if err := anypb.MarshalFrom(a, m, proto.MarshalOptions{Deterministic: true}); err != nil {
			return set{}, fmt.Errorf("envoy configuration: %s: %w", m.GetName(), err)
		}
		members[m.GetName()] = a
	}
	return newSet(members), nil
}

func newSet(members map[string]*anypb.Any) set {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(members)) {
		for _, part := range [][]byte{[]byte(name), members[name].GetValue()} {
			// The length first, so that parts cannot run together.
			_ = binary.Write(sum, binary.BigEndian, uint64(len(part))) // a hash takes everything
			sum.Write(part)
		}
	}
	return set{version: hex.EncodeToString(sum.Sum(nil)[:16]), members: members}
}

// with has the members of both; those of other count.
func (s set) with(other set) set {
	members := maps.Clone(s.members)
	if members == nil {
		members = map[string]*anypb.Any{}
	}
	maps.Copy(members, other.members)
	return newSet(members)
}

// version is that of the whole.
func (s *snapshot) version() string {
	if s == nil {
		return ""
	}
	sum := sha256.New()
	for _, kind := range kinds {
		sum.Write([]byte(s.kinds[kind].version))
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

func (s *snapshot) equal(other *snapshot) bool {
	return s == other || s != nil && other != nil && s.version() == other.version()
}

// steps leads from one configuration to the next so that no request meets a
// route to a cluster that is not there yet, or not any more.
func steps(from, to *snapshot) []*snapshot {
	if from == nil {
		return []*snapshot{to}
	}
	both := from.kinds[resource.ClusterType].with(to.kinds[resource.ClusterType])
	added := &snapshot{step: true, kinds: maps.Clone(from.kinds)}
	added.kinds[resource.ClusterType] = both
	moved := &snapshot{step: true, kinds: maps.Clone(to.kinds)}
	moved.kinds[resource.ClusterType] = both
	var way []*snapshot
	for _, s := range []*snapshot{added, moved} {
		if !s.equal(from) && !s.equal(to) {
			way = append(way, s)
		}
	}
	return append(way, to)
}

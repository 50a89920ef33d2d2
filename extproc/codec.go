package extproc

import (
	"unicode/utf8"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/proto" // registers the codec that is wrapped here
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// lenient is gRPC's codec, but for strings that are no UTF-8: the proxy copies
// what a client sends (the request's id is one) into such fields as it is. A
// message that is refused for it is an exchange that is not guarded, at the
// will of any client.
type lenient struct{ encoding.CodecV2 }

func lenientCodec() grpc.ServerOption {
	return grpc.ForceServerCodecV2(lenient{encoding.GetCodecV2("proto")})
}

// Unmarshal mends a message that could not be read, and reads it again.
func (c lenient) Unmarshal(data mem.BufferSlice, v any) error {
	err := c.CodecV2.Unmarshal(data, v)
	m, ok := v.(proto.Message)
	if err == nil || !ok {
		return err
	}
	raw := data.Materialize()
	mend(raw, m.ProtoReflect().Descriptor())
	return proto.Unmarshal(raw, m)
}

// mend puts a question mark in place of each byte that is no UTF-8, in all
// strings of the message: their lengths stay. What is no message of the kind
// is left for Unmarshal to refuse.
func mend(raw []byte, d protoreflect.MessageDescriptor) {
	for len(raw) > 0 {
		number, kind, n := protowire.ConsumeTag(raw)
		if n < 0 {
			return
		}
		raw = raw[n:]
		size := protowire.ConsumeFieldValue(number, kind, raw)
		if size < 0 {
			return
		}
		if field := d.Fields().ByNumber(number); field != nil && kind == protowire.BytesType {
			value, _ := protowire.ConsumeBytes(raw)
			mendField(value, field)
		}
		raw = raw[size:]
	}
}

func mendField(value []byte, field protoreflect.FieldDescriptor) {
	switch field.Kind() {
	case protoreflect.MessageKind:
		mend(value, field.Message())
	case protoreflect.StringKind:
		for i := 0; i < len(value); {
			r, size := utf8.DecodeRune(value[i:])
			if r == utf8.RuneError && size == 1 {
				value[i] = '?'
			}
			i += size
		}
	}
}

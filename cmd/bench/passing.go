package main

import (
	"errors"
	"net"

	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc"
)

// A passing server answers every message with an empty one: what any ext_proc
// filter costs that sees the same headers and bodies.
type passing struct {
	extprocv3.UnimplementedExternalProcessorServer
}

func servePassing(socket string) (end func(), err error) {
	l, err := net.Listen("unix", socket)
	if err != nil {
		return nil, err
	}
	server := grpc.NewServer(grpc.MaxRecvMsgSize(64 << 20))
	extprocv3.RegisterExternalProcessorServer(server, passing{})
	go func() { _ = server.Serve(l) }()
	return server.Stop, nil
}

func (passing) Process(stream extprocv3.ExternalProcessor_ProcessServer) error {
	for {
		request, err := stream.Recv()
		if err != nil {
			return nil // the exchange is over
		}
		response, err := emptyFor(request)
		if err != nil {
			return err
		}
		if err := stream.Send(response); err != nil {
			return nil
		}
	}
}

func emptyFor(request *extprocv3.ProcessingRequest) (*extprocv3.ProcessingResponse, error) {
	headers := func() *extprocv3.HeadersResponse { return &extprocv3.HeadersResponse{} }
	body := func() *extprocv3.BodyResponse { return &extprocv3.BodyResponse{} }
	switch request.Request.(type) {
	case *extprocv3.ProcessingRequest_RequestHeaders:
		return &extprocv3.ProcessingResponse{Response: &extprocv3.ProcessingResponse_RequestHeaders{RequestHeaders: headers()}}, nil
	case *extprocv3.ProcessingRequest_RequestBody:
		return &extprocv3.ProcessingResponse{Response: &extprocv3.ProcessingResponse_RequestBody{RequestBody: body()}}, nil
	case *extprocv3.ProcessingRequest_ResponseHeaders:
		return &extprocv3.ProcessingResponse{Response: &extprocv3.ProcessingResponse_ResponseHeaders{ResponseHeaders: headers()}}, nil
	case *extprocv3.ProcessingRequest_ResponseBody:
		return &extprocv3.ProcessingResponse{Response: &extprocv3.ProcessingResponse_ResponseBody{ResponseBody: body()}}, nil
	}
	return nil, errors.New("a message that was not asked for")
}

package doctor

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	dataaccesslogv3 "github.com/envoyproxy/go-control-plane/envoy/data/accesslog/v3"
	filterv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/protobuf/types/known/structpb"
)

// markName is the member of the query that carries a mark: Envoy shows the
// path to the filter, in the attributes, in the access log and to the backend.
const markName = "oneticket_doctor"

// A plan is what is done with one marked request.
type plan struct {
	size    int               // of the request's body, at least
	text    bool              // a body that no ticket system takes for a create
	headers map[string]string // of the request

	hold      time.Duration // the filter answers the first message so late
	ask       time.Duration // after it has asked for so much time
	refuse    int           // the filter is unavailable to so many streams
	fail      bool          // it ends the stream with an error
	letPast   bool          // it wants to see no body
	answer    bool          // it answers in the backend's place
	rewrite   bool          // it sets a header and replaces the body
	status    int           // the backend answers this; 0 is 201
	hangUp    bool          // the backend reads the request and closes the connection
	answering int           // size of the backend's answer, at least
}

// A probe is one marked request and all that is seen of it.
type probe struct {
	plan
	mark string

	mu       sync.Mutex
	streams  int
	messages []message
	mode     *extprocv3.ProtocolConfiguration
	watching bool // observability_mode
	asked    *structpb.Struct
	answered *structpb.Struct
	waited   bool          // the filter held as long as planned, and Envoy waited
	gaveUp   time.Duration // else: Envoy ended the stream after so long
	attempts []attempt     // at the backend
	entry    *dataaccesslogv3.HTTPAccessLogEntry

	seen reply
}

// A message is one that the filter got.
type message struct {
	phase string
	size  int
	end   bool
}

// An attempt is the request as it reached the backend.
type attempt struct {
	header http.Header
	body   []byte
}

// A reply is what the client saw.
type reply struct {
	status int
	header http.Header
	size   int
	err    error
}

func (r reply) String() string {
	if r.err != nil {
		return r.err.Error()
	}
	return fmt.Sprint(r.status)
}

func newProbe(p plan) *probe { return &probe{plan: p, mark: rand.Text()} }

func (p *probe) body() []byte {
	if p.text {
		return []byte("a request of oneticket doctor, " + p.mark)
	}
	body := fmt.Sprintf(`{"%s":%q,"short_description":"oneticket doctor","padding":"`, markName, p.mark)
	return []byte(body + strings.Repeat("x", max(0, p.size-len(body)-2)) + `"}`)
}

// send plays the client.
func (p *probe) send(ctx context.Context, client *http.Client, o Options) {
	u := *o.URL
	query := u.Query()
	query.Set(markName, p.mark)
	u.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, o.Method, u.String(), bytes.NewReader(p.body()))
	if err != nil {
		p.seen.err = err
		return
	}
	req.Host = o.Host
	req.Header.Set("Content-Type", "application/json")
	if p.text {
		req.Header.Set("Content-Type", "text/plain")
	}
	req.Header.Set("User-Agent", "oneticket-doctor")
	for name, value := range p.headers {
		req.Header.Set(name, value)
	}
	res, err := client.Do(req)
	if err != nil {
		p.seen.err = reason(err)
		return
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	p.seen = reply{status: res.StatusCode, header: res.Header, size: len(body), err: err}
}

// reason takes the address off an error of the client, where the mark is.
func reason(err error) error {
	if u, ok := err.(*url.Error); ok {
		return u.Err
	}
	return err
}

// reached is how often the request came to the backend.
func (p *probe) reached() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.attempts)
}

func (p *probe) logged() *dataaccesslogv3.HTTPAccessLogEntry {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.entry
}

// first returns the first message of a phase, and how many there were.
func (p *probe) first(phase string) (m message, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, x := range p.messages {
		if x.phase != phase {
			continue
		}
		if n++; n == 1 {
			m = x
		}
	}
	return m, n
}

// buffered reports whether Envoy says that it sends whole bodies.
func buffered(m filterv3.ProcessingMode_BodySendMode) bool {
	return m == filterv3.ProcessingMode_BUFFERED
}

// Package dedup decides what becomes of a ticket create: whether it is sent on,
// answered with the stored response of the ticket that is open already, or
// turned into an update of that ticket. It knows neither a proxy nor a store
// nor a ticket system: a Store keeps the records, a Backend is asked, and the
// caller sends and answers.
//
// # The usual case
//
// An Engine is made over a Store and asked once per request:
//
//	v, err := engine.Decide(ctx, claim)
//
// A Verdict of kind Create has a Hold: the right to send one create with the
// token Hold.Token, and the duty to settle it. Hold.Ready is asked immediately
// before the request is let go, Hold.MarkSent immediately after, and
// Hold.Settle when it is known how it ended. A Verdict of kind Suppress is
// answered with Record.Response. An error means that no store could decide.
//
// A Go program that wants the same guarantee without a proxy uses Once.
//
// # Keys
//
// A Key is computed anew for every request and carries neither rule nor scope,
// so any program can compute it; a Ref adds these. Nothing of a record is kept
// in memory to answer a claim.
//
// # One fault, its titles and its updates
//
// A too broad identity is noticed by the titles of its requests. A record keeps
// hashes of up to eight of this episode: the first with the create's answer,
// others beside the requests that bring them, so that no request waits for it.
// The fifth is reported, once; with Policy.SuspectForward a request whose title
// is none of the first four is passed on, under no claim, however often it comes.
//
// Policy.UpdateRate bounds the updates of one ticket, over all replicas: the
// record keeps when they were sent. A severity that the map calls worse, a clear
// and a reopening are never held back. A lesser one is answered from the record,
// any other is told to come again; the record keeps the fingerprint that its
// ticket has, so that the next re-fire tries again. With OnUpdateSuppress no
// change of severity is sent, and the record keeps its fingerprint likewise.
//
// A ticket that is open beside the record's own is reported. A Merger closes or
// links it, beside the requests, where the rule wants that: when the record has
// an open ticket, both were read and are open, and the record holds its own
// still. The record's ticket stays, because it is the one that is updated.
//
// # The states of a record
//
// Decide, and the functions that go on after a look-up, a read or an outcome,
// are pure: a record, what happened and the store's time in, and out comes what
// to do and the record then. They are the only place where this logic exists.
// What they say holds once Swap has written the record over the one that they
// saw; on a conflict everything is decided again. The store knows of the policy
// only Record.FreeAt, the instant from which a Claim may take the record.
//
// The tables below are what the functions do; a test walks every state and
// every event and compares. A cell is the decision and its reason, what is
// reported beside it, and after ">" the state then, where the record is
// written:
//
//   - "?" after a state: the fingerprint is unknown (open), or it is in doubt
//     whether the ticket is closed (closed)
//   - "/" after a state: an update claim (updating, clearing, reopening)
//   - "+double": a ticket or a token that may be open beside the record's own
//     is reported; "+dead": the create is kept as a dead letter
//   - "again": all is decided again; "-": nothing happens
//   - "lease over", "settled", "check due", "expired" and the like are no
//     events: time goes on, and the next claim finds the record so
//   - "looking" is claimed, but by somebody who looks the token up and sends
//     nothing
//
// What a claim finds, of somebody who does not hold the record:
//
//	claim of            | same fire                          | other fire                         | clear
//	none                | create first > claimed             | create first > claimed             | pass unmatched_clear
//	claimed, lease over | lookup > looking                   | lookup > looking                   | lookup > looking
//	doubtful            | lookup > looking                   | lookup > looking                   | lookup > looking
//	doubtful, settled   | lookup > looking                   | lookup > looking                   | lookup > looking
//	open                | suppress refire                    | update changed > open/updating     | update changed > open/clearing
//	open, check due     | read                               | update changed > open/updating     | update changed > open/clearing
//	open, expired       | create expired > claimed           | create expired > claimed           | update changed > open/clearing
//	open, updating      | suppress refire                    | wait                               | wait
//	open, update over   | again > open?                      | again > open?                      | again > open?
//	open, clear over    | again > closed?                    | again > closed?                    | again > closed?
//	closed lately       | update reopened > closed/reopening | update reopened > closed/reopening | suppress cleared
//	closed              | create closed > claimed            | create closed > claimed            | suppress cleared
//	closed, gone        | create closed > claimed            | create closed > claimed            | suppress cleared
//	closed, attempts    | lookup > looking                   | lookup > looking                   | suppress cleared
//	closed?, may land   | busy                               | busy                               | update changed > closed?/clearing
//	closed?             | read                               | read                               | update changed > closed?/clearing
//	closed, reopen over | again > closed?                    | again > closed?                    | again > closed?
//	observed            | create first > claimed             | create first > claimed             | pass unmatched_clear
//	newer               | pass                               | pass                               | pass
//	any other           | wait                               | wait                               | wait
//
// The same where the ticket system can be asked for neither a token nor a
// ticket. Before settle is over a create may still land, so nobody sends one:
//
//	same, nobody to ask | same fire                       | other fire                      | clear
//	claimed, lease over | busy > doubtful                 | busy > doubtful                 | pass unmatched_clear +dead > closed?
//	doubtful            | busy                            | busy                            | pass unmatched_clear +dead > closed?
//	doubtful, settled   | create retried > claimed        | create retried > claimed        | pass unmatched_clear +dead > closed?
//	closed, attempts    | create closed +double > claimed | create closed +double > claimed | suppress cleared
//	closed?, may land   | busy                            | busy                            | update changed > closed?/clearing
//	closed?             | create closed +double > claimed | create closed +double > claimed | update changed > closed?/clearing
//
// The same where the ticket system folds: whenever the create is sent again, it
// becomes the ticket of the first send, or the other way round, so that nobody
// waits for anything. Not where it cannot carry the token:
//
//	same, folds         | same fire                | other fire               | clear
//	claimed, lease over | create retried > claimed | create retried > claimed | pass unmatched_clear +dead > closed?
//	doubtful            | create retried > claimed | create retried > claimed | pass unmatched_clear +dead > closed?
//	doubtful, settled   | create retried > claimed | create retried > claimed | pass unmatched_clear +dead > closed?
//
// The outcome of the holder's own create ("late": of another's, in the same
// episode), and of the read of a ticket that the ticket system remembers:
//
//	create              | created    | created late | refused, never sent | unknown, exists  | remembered | its ticket is closed
//	claimed             | ok > open  | ok > open    | > none              | +dead > doubtful | read       | again > closed
//	claimed, lease over | ok > open  | ok > open    | > none              | +dead > doubtful | read       | again > closed
//	doubtful            | ok > open  | ok > open    | > none              | +dead            | read       | again
//	doubtful, settled   | ok > open  | ok > open    | > none              | +dead            | read       | again
//	looking             | ok > open  | ok > open    | > looking           | +dead            | read       | again
//	looking, settled    | ok > open  | ok > open    | > looking           | +dead            | read       | again
//	closed, attempts    | ok +double | ok +double   | > closed            | +dead            | read       | again
//	newer               | ok         | ok           | -                   | +dead            | +dead      | -
//	any other           | ok +double | ok +double   | -                   | +dead            | read       | again
//
// The outcome of the holder's own update, refused ones with what the read of
// the ticket said:
//
//	update              | applied     | gone                | refused, open  | refused, closed     | refused, unread | not sent | unknown
//	open                | ok          | -                   | -              | -                   | -               | -        | -
//	open, check due     | ok          | -                   | -              | -                   | -               | -        | -
//	open, expired       | ok          | -                   | -              | -                   | -               | -        | -
//	open, updating      | ok > open   | again > closed gone | failed > open  | again > closed      | > closed?       | > open   | > open?
//	open, clearing      | ok > closed | again > closed gone | failed > open  | again > closed      | > closed?       | > open   | > closed?
//	open, update over   | ok > open   | again > closed gone | failed > open  | again > closed      | > closed?       | > open   | > open?
//	open, clear over    | ok > closed | again > closed gone | failed > open  | again > closed      | > closed?       | > open   | > closed?
//	closed, reopening   | ok > open   | again > closed gone | failed > open? | again > closed gone | > closed?       | > closed | > closed?
//	closed, reopen over | ok > open   | again > closed gone | failed > open? | again > closed gone | > closed?       | > closed | > closed?
//	observed            | ok          | -                   | -              | -                   | -               | -        | -
//	newer               | ok          | -                   | -              | -                   | -               | -        | -
//	any other           | -           | -                   | -              | -                   | -               | -        | -
//
// A close names a ticket and acts on the record that holds that ticket. A
// look-up and a read are the holder's, or the claim's that asked for them. "No
// turn yet" is a look-up that our own pace, or the backend's 429, has put off;
// five minutes after settle it is "no answer":
//
//	close, look-up      | its ticket | another | found open                | found closed   | absent                   | no answer                        | no turn yet
//	looking             | -          | -       | suppress recovered > open | again > closed | busy > doubtful          | busy > doubtful                  | busy > doubtful
//	looking, settled    | -          | -       | suppress recovered > open | again > closed | create retried > claimed | create retried +double > claimed | busy > doubtful
//	open                | > closed   | -       | again                     | again          | again                    | again                            | again
//	open, check due     | > closed   | -       | again                     | again          | again                    | again                            | again
//	open, expired       | > closed   | -       | again                     | again          | again                    | again                            | again
//	open, updating      | > closed   | -       | again                     | again          | again                    | again                            | again
//	open, clearing      | > closed?  | -       | again                     | again          | again                    | again                            | again
//	open, update over   | > closed   | -       | again                     | again          | again                    | again                            | again
//	open, clear over    | > closed?  | -       | again                     | again          | again                    | again                            | again
//	closed?             | > closed   | -       | again                     | again          | again                    | again                            | again
//	closed, reopening   | > closed?  | -       | again                     | again          | again                    | again                            | again
//	closed, reopen over | > closed?  | -       | again                     | again          | again                    | again                            | again
//	observed            | > closed   | -       | again                     | again          | again                    | again                            | again
//	any other           | -          | -       | again                     | again          | again                    | again                            | again
//
//	read              | open                              | closed         | gone                | no answer
//	open              | suppress verified > open          | again > closed | again > closed gone | suppress refire > open
//	open, check due   | suppress verified > open          | again > closed | again > closed gone | suppress refire > open
//	open, expired     | suppress verified > open          | again > closed | again > closed gone | create expired > claimed
//	open, updating    | suppress verified > open/updating | again > closed | again > closed gone | suppress refire > open/updating
//	open, update over | suppress verified > open/updating | again > closed | again > closed gone | again > open?
//	closed?           | again > open?                     | again > closed | again > closed gone | create closed +double > claimed
//	observed          | suppress verified > open          | again > closed | again > closed gone | suppress refire > open
//	any other         | again                             | again          | again               | again
package dedup

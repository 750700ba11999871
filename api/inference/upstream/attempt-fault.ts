import { crc32 } from 'node:zlib';
import { SECOND_MS } from '#core/clock.ts';
import type { Ticket } from '#core/provider-health/circuit-breaker.ts';
import type { ApiError } from '../../contract/errors.ts';
import { waitInHeaders } from '../../providers/provider-wait.ts';
import type { EndedByUs, HeldCall } from '../hold/held-call.ts';
import type { CallFault, Target } from '../routing/endpoint-health.ts';
import type { UpstreamRequest } from './upstream-request.ts';

/** A caller that leaves after this long without a status line has met a timeout. */
const STATUS_LATE_MS = 30 * SECOND_MS;

interface EndedAttempt {
  /** `null`: it did not fail. */
  error: ApiError | null;
  faultOf: FaultOf | undefined;
  upstream: Pick<UpstreamRequest, 'sent' | 'status'>;
  durationMs: number;
  callerGone: boolean;
  endedByUs: EndedByUs | null;
  /** The wait that the headers of a failure name; `null`: none. */
  retryAfterMs: number | null;
}

/** `request`: only requests like this one fail so. `endpoint`: other models of the same provider are served. */
export type FaultOf = 'request' | 'endpoint';

/** Names the fault of the endpoint that an attempt has shown, if there is one. */
function findFault(attempt: EndedAttempt): CallFault {
  const { error, upstream, durationMs, callerGone, endedByUs, faultOf } = attempt;
  if (callerGone || cutByUs.has(endedByUs)) {
    const late = callerGone && upstream.sent && upstream.status === 0 && durationMs >= STATUS_LATE_MS;
    return late ? { kind: 'late' } : { kind: 'nothing' };
  }
  if (error === null) return { kind: 'none' };
  switch (error.code) {
    case 'gateway_unavailable':
      return { kind: 'key_refused' };
    case 'gateway_capacity':
      return faultOf === 'request' ? { kind: 'refused' } : { kind: 'unpaid' };
    case 'model_busy':
      return busyFault(attempt, attempt.retryAfterMs ?? error.retryAfterMs ?? 0);
    case 'upstream_unreachable':
      return upstream.sent ? { kind: 'failing' } : { kind: 'unconnected' };
    case 'provider_error':
    case 'upstream_error':
    case 'timeout':
      return { kind: 'failing' };
    case 'upstream_timeout':
      // A long answer that had begun was long by the caller's wish.
      return upstream.status === 0 ? { kind: 'failing' } : { kind: 'nothing' };
    default:
      return { kind: 'refused' };
  }
}

function busyFault({ upstream: { status }, faultOf }: EndedAttempt, waitMs: number): CallFault {
  if (status === 429)
    return { kind: faultOf === 'endpoint' ? 'endpoint_rate_limited' : 'rate_limited', waitMs };
  return status >= 500 ? { kind: 'failing' } : { kind: 'refused' };
}

/** The journal, a shutdown, or a bound on the length of answers. */
const cutByUs = new Set<EndedByUs | null>(['gate', 'shutdown', 'too_long', 'hang_up']);

/** The facts of an ended attempt that each kind of call reports. */
export interface ReportedAttempt {
  error: ApiError | null;
  faultOf: FaultOf | undefined;
  upstream: UpstreamRequest;
  sentAtMs: number;
  /** The caller's own bytes, which tell one request from another. */
  body: () => Buffer;
  withTools: boolean;
  tokens: number;
}

/** Tells the health of the endpoint how an attempt ended. */
export function reportAttempt(
  { options: { gateway, agentId }, caller, endedByUs }: Pick<HeldCall, 'options' | 'caller' | 'endedByUs'>,
  target: Target,
  ticket: Ticket,
  { error, faultOf, upstream, sentAtMs, body, withTools, tokens }: ReportedAttempt,
): void {
  const { clock, health } = gateway;
  const durationMs = clock.monotonicMs() - sentAtMs;
  const fault = findFault({
    error,
    faultOf,
    upstream,
    durationMs,
    callerGone: caller.gone,
    endedByUs,
    retryAfterMs: error === null ? null : waitInHeaders(upstream.headers, clock.now()),
  });
  const digest = () => bodyDigest(body());
  health.end(target, ticket, { fault, agentId, digest, withTools, durationMs, tokens });
}

/** Tells two bodies apart, cheaply and well enough: whoever makes two that collide only keeps a breaker closed. */
const bodyDigest = (bytes: Buffer): number => crc32(bytes);

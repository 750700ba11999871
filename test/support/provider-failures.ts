import type { ScriptRule } from '../../api/simulator/script-rule.ts';

/** A provider's refusal, in the shape of its dialect unless the rest says otherwise. */
export const failing = (code: number, rest: Partial<NonNullable<ScriptRule['error']>> = {}): ScriptRule => ({
  status: code,
  error: { code, ...rest },
});

/** What a provider does, and what the caller gets: nobody pays for any of these. */
export const freeFailures: [string, ScriptRule, number, string][] = [
  ['refuses a parameter', failing(400), 400, 'invalid_request'],
  ['refuses our key', failing(401), 503, 'gateway_unavailable'],
  ['says that our account is empty', failing(402), 503, 'gateway_capacity'],
  ['refuses by its policy', failing(403), 403, 'provider_refused'],
  ['has no endpoint for these options', failing(404), 404, 'no_provider'],
  ['gives up waiting', failing(408), 408, 'timeout'],
  ['finds the prompt too long', failing(413), 413, 'request_too_large'],
  ['cannot run it', failing(422), 422, 'unprocessable'],
  ['is at its rate limit', failing(429), 503, 'model_busy'],
  ['is broken', failing(500), 502, 'upstream_error'],
  ['is a bad gateway', failing(502), 502, 'provider_error'],
  ['is overloaded', failing(503), 503, 'model_busy'],
  ['is overloaded in its own way', failing(529), 503, 'model_busy'],
  ['timed out at its edge', failing(524), 408, 'timeout'],
  ['speaks plain text', failing(500, { style: 'text' }), 502, 'upstream_error'],
  ['speaks HTML', failing(502, { style: 'html' }), 502, 'provider_error'],
  ['says nothing', failing(503, { style: 'empty' }), 503, 'model_busy'],
  [
    'answers 200 with an error inside',
    { ...failing(502, { type: 'provider_unavailable' }), status: 200 },
    502,
    'provider_error',
  ],
  [
    'answers 200 with an error in its choice',
    { ...failing(502, { at: 'choice', type: 'provider_unavailable' }), status: 200 },
    502,
    'provider_error',
  ],
  ['redirects', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }, 502, 'upstream_error'],
  ['is cut before its headers', { cutAt: 'headers' }, 502, 'upstream_unreachable'],
  ['is cut inside its answer', { cutAt: 40 }, 502, 'provider_error'],
  ['answers no JSON', { body: '<html>hello</html>' }, 502, 'provider_error'],
  ['answers half of its JSON', { body: '{"id":"x","choices":[' }, 502, 'provider_error'],
  ['answers an empty body', { body: '' }, 502, 'provider_error'],
  ['answers a JSON list', { body: '[]' }, 502, 'provider_error'],
];

import type { Call } from './endpoint.js'

/** The header `If-Unmodified-Since` as milliseconds since 1970, in whole seconds; NaN without a valid time. */
export const unmodifiedSinceMs = ({ raw }: Pick<Call, 'raw'>): number =>
  Date.parse(raw.request.headers['if-unmodified-since'] ?? '')

/** Any site may fetch what every visitor of every site may see. */
export const publicHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'ETag, Retry-After, X-Request-Id',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  Vary: 'Accept-Encoding',
}

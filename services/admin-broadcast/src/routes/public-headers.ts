/** Headers that allow every site to fetch public answers. */
export const publicHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'Date, ETag, Retry-After, X-Request-Id',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  Vary: 'Accept-Encoding',
}

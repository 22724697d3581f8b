/**
 * Returns the media type of a `Content-Type` header, without parameters and in lower case; empty without a
 * header.
 */
export const mediaTypeOf = (contentType = ''): string =>
  contentType.split(';', 1)[0]?.trim().toLowerCase() ?? ''

/** Returns the `charset` parameter of a `Content-Type` header in lower case; `utf-8` without one. */
export function charsetOf(contentType = ''): string {
  const [, ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase())
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))
  return charset?.slice('charset='.length).replaceAll('"', '') ?? 'utf-8'
}

/** Returns whether a body is JSON. A body without a content type counts as JSON. */
export function isJson(contentType: string | undefined): boolean {
  const type = mediaTypeOf(contentType)
  return (
    type === '' || type === 'application/json' || (type.startsWith('application/') && type.endsWith('+json'))
  )
}

export const isUrlencoded = (contentType: string | undefined): boolean =>
  mediaTypeOf(contentType) === 'application/x-www-form-urlencoded'

export const isMultipart = (contentType: string | undefined): boolean =>
  mediaTypeOf(contentType) === 'multipart/form-data'

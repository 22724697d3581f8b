const header = (name: string, description: string) => ({
  name,
  in: 'header',
  required: false,
  description,
  schema: { type: 'string' },
})

/** The headers that bind a change to the version that the caller has read. */
export const preconditionHeaders = {
  IfMatch: header('If-Match', 'The `ETag` of the answer that the change is made from, or `*`; else 412'),
  IfUnmodifiedSince: header('If-Unmodified-Since', 'The time of that answer, without `If-Match`; else 412'),
}

export const preconditionReferences = Object.keys(preconditionHeaders).map((name) => ({
  $ref: `#/components/parameters/${name}`,
}))

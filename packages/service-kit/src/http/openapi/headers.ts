const number = { required: true, schema: { type: 'string', pattern: '^\\d*$' } }

/** The seven headers of a page. The header of an absent neighbour is empty. */
export const pageHeaders = {
  Link: {
    description: 'The pages `prev`, `next`, `first` and `last`',
    required: true,
    schema: { type: 'string' },
  },
  'X-Page': { description: 'This page', ...number },
  'X-Per-Page': { description: 'Items per page', ...number },
  'X-Next-Page': { description: 'The next page', ...number },
  'X-Prev-Page': { description: 'The previous page', ...number },
  'X-Total': { description: 'Total number of items', ...number },
  'X-Total-Pages': { description: 'Total number of pages', ...number },
}

export const pageHeaderReferences = Object.fromEntries(
  Object.keys(pageHeaders).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
)

const header = (name: string, description: string) => ({
  name,
  in: 'header',
  required: false,
  description,
  schema: { type: 'string' },
})

/** The headers that limit a change to the version that the caller has read. */
export const preconditionHeaders = {
  IfMatch: header(
    'If-Match',
    'The `ETag` of the response on which the change is based, or `*`; otherwise 412',
  ),
  IfUnmodifiedSince: header(
    'If-Unmodified-Since',
    'The time of that response, when `If-Match` is missing; otherwise 412',
  ),
}

export const preconditionReferences = Object.keys(preconditionHeaders).map((name) => ({
  $ref: `#/components/parameters/${name}`,
}))

const number = { required: true, schema: { type: 'string', pattern: '^\\d*$' } }

/** The seven headers of a page. The header of an absent neighbour is empty. */
export const pageHeaders = {
  Link: {
    description: 'The pages `prev`, `next`, `first` and `last`',
    required: true,
    schema: { type: 'string' },
  },
  'X-Page': { description: 'This page', ...number },
  'X-Per-Page': { description: 'Items on a page', ...number },
  'X-Next-Page': { description: 'The next page', ...number },
  'X-Prev-Page': { description: 'The page before', ...number },
  'X-Total': { description: 'Items in the whole list', ...number },
  'X-Total-Pages': { description: 'Pages of the whole list', ...number },
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
  IfMatch: header('If-Match', 'The `ETag` of the answer that the change is made from, or `*`; else 412'),
  IfUnmodifiedSince: header('If-Unmodified-Since', 'The time of that answer, without `If-Match`; else 412'),
}

export const preconditionReferences = Object.keys(preconditionHeaders).map((name) => ({
  $ref: `#/components/parameters/${name}`,
}))

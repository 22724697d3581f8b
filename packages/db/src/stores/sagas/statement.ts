/** A database that stopped answering must not hold calls for ever; their callers try again elsewhere. */
const answerTimeoutMs = 10_000

/** SQL that is given up when the database does not answer; prepared once per connection when it has a name. */
export const statement = (text: string, name?: string) => ({
  text,
  query_timeout: answerTimeoutMs,
  ...(name === undefined ? {} : { name }),
})

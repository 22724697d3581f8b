/** A call ends when the database stops answering; its caller may try another instance. */
const answerTimeoutMs = 10_000

/** SQL that is given up when the database does not answer in time. With a name it is prepared once per connection. */
export const statement = (text: string, name?: string) => ({
  text,
  query_timeout: answerTimeoutMs,
  ...(name === undefined ? {} : { name }),
})

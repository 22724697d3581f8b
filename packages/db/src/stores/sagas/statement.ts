import { queryOf, type Write } from '../../sql/write-rows.js'

/** Calls fail when the database does not answer within this time, so that callers can try another instance. */
const answerTimeoutMs = 10_000

/** SQL with a time limit for the answer of the database. With a name it is prepared once per connection. */
export const statement = (text: string, name?: string) => ({
  text,
  query_timeout: answerTimeoutMs,
  ...(name === undefined ? {} : { name }),
})

/** What node-postgres takes to write these items, with the same limit. */
export const writeStatement = <Item>(write: Write<Item>, items: readonly Item[]) => ({
  ...queryOf(write, items),
  query_timeout: answerTimeoutMs,
})

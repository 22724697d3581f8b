import type pg from 'pg'

type Answer = (error: Error | null | undefined, result: pg.QueryResult) => void
type Ask = (config: unknown, values: unknown, answer?: Answer) => unknown

/**
 * Lets queries that are over be collected while they are young.
 *
 * V8 takes a function that is assigned to a property for a method and makes it old at once. node-postgres gives such a
 * function to each query that is awaited or has a `query_timeout`, and the function holds the query, its values and its
 * rows. Until everything is marked none of them is freed, and what values hold outside the heap makes that necessary
 * every few seconds. Functions that are handed over as arguments are young, so promises and time limits are made here.
 *
 * Apart from memory nothing changes: a query that is not answered in time is rejected with `Query read timeout`, and its
 * connection still waits for the answer, which is why whoever holds it has to close it.
 */
export function keepQueriesYoung(client: pg.ClientBase): void {
  const ask = client.query.bind(client) as unknown as Ask
  const query = (config: unknown, values: unknown, callback?: Answer) => {
    if (isQueryObject(config)) return ask(config, values, callback)
    const answer = typeof values === 'function' ? (values as Answer) : callback
    const given = answer === values ? undefined : values
    return answer ? askWithin(ask, config, given, answer) : awaitAnswer(ask, config, given)
  }
  client.query = query as unknown as pg.ClientBase['query']
}

/** A query that runs itself, as those of cursors and streams do. */
const isQueryObject = (config: unknown): boolean =>
  typeof (config as pg.Submittable | null)?.submit === 'function'

const awaitAnswer = (ask: Ask, config: unknown, values: unknown): Promise<pg.QueryResult> =>
  new Promise<pg.QueryResult>((resolve, reject) => {
    askWithin(ask, config, values, (error, result) => (error ? reject(error) : resolve(result)))
  }).catch((error: Error) => {
    // Who asked is of more use than the socket that the answer came from.
    Error.captureStackTrace(error)
    throw error
  })

function askWithin(ask: Ask, config: unknown, values: unknown, answer: Answer): void {
  const timeoutMs = (config as { query_timeout?: number } | null)?.query_timeout
  if (!timeoutMs) {
    ask(config, values, answer)
    return
  }
  let isOver = false
  const end: Answer = (error, result) => {
    if (isOver) return
    isOver = true
    clearTimeout(timer)
    answer(error, result)
  }
  const timer = setTimeout(() => end(new Error('Query read timeout'), noResult), timeoutMs)
  ask({ ...(config as object), query_timeout: 0 }, values, end)
}

const noResult = undefined as unknown as pg.QueryResult

import { isDatabaseUnavailable } from '@switchyard/db'
import { unavailable } from '@switchyard/domain'

/**
 * The result of work on the database.
 *
 * @throws DomainError unavailable when the database does not answer
 */
export const asUnavailable = <Result>(work: Promise<Result>): Promise<Result> =>
  work.catch((error: unknown) => {
    throw isDatabaseUnavailable(error) ? unavailable('the database does not answer', { cause: error }) : error
  })

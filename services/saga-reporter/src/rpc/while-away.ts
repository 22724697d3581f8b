import { isDatabaseUnavailable } from '@switchyard/db'
import { unavailable } from '@switchyard/domain'

/**
 * What work on the database comes to.
 *
 * @throws DomainError unavailable while the database is away
 */
export const refuseWhileAway = <Result>(work: Promise<Result>): Promise<Result> =>
  work.catch((error: unknown) => {
    throw isDatabaseUnavailable(error) ? unavailable('the database is away', { cause: error }) : error
  })

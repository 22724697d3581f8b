import type { Database } from '@switchyard/db'
import { administratorOrScope, type Route, route } from '@switchyard/service-kit/http'
import { getSaga } from './get-saga.js'
import { listSagas } from './list-sagas.js'

/** Everything this service answers over HTTP: method, path, who may, what happens. */
export function routes(database: Database): Route[] {
  const reader = administratorOrScope('read_sagas')
  return [
    route('GET', '/sagas', reader, listSagas(database)),
    route('GET', '/sagas/:id', reader, getSaga(database)),
  ]
}

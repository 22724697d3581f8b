import { administrator, type Route, route, signedIn } from '@switchyard/service-kit/http'
import type { Dependencies } from '../../dependencies.js'
import { createUser } from './create-user.js'
import { getCurrentUser } from './get-current-user.js'
import { getUser } from './get-user.js'
import { listUsers } from './list-users.js'
import { setStateOfUser } from './set-user-state.js'
import { updateUser } from './update-user.js'

export function userRoutes(deps: Dependencies): Route[] {
  return [
    route('GET', '/user', signedIn, getCurrentUser(deps)),
    route('POST', '/users', administrator, createUser(deps)),
    route('GET', '/users', administrator, listUsers(deps)),
    route('GET', '/users/:id', signedIn, getUser(deps)),
    route('PUT', '/users/:id', administrator, updateUser(deps)),
    route('POST', '/users/:id/block', administrator, setStateOfUser(deps, 'blocked')),
    route('POST', '/users/:id/unblock', administrator, setStateOfUser(deps, 'active')),
  ]
}

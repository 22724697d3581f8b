import { type Route, route } from '@switchyard/service-kit/http'
import type { Dependencies } from '../../dependencies.js'
import { commitBytesMax } from '../../wire/file-content.js'
import { deleteFile, writeFile } from './change-file.js'
import { getBlame } from './get-blame.js'
import { getFile } from './get-file.js'
import { getRawFile } from './get-raw-file.js'

export function fileRoutes(deps: Dependencies): Route[] {
  const { readCode, pushCode } = deps.guards
  const file = '/projects/:id/repository/files/:file_path'
  const writes = { bodyBytesMax: commitBytesMax, parseLargeBody: deps.commitBodies.parse, longLived: true }
  return [
    route('GET', file, readCode, getFile),
    route('GET', `${file}/raw`, readCode, getRawFile(deps), { longLived: true }),
    route('GET', `${file}/blame`, readCode, getBlame, { longLived: true }),
    route('POST', file, pushCode, writeFile(deps, 'create'), writes),
    route('PUT', file, pushCode, writeFile(deps, 'update'), writes),
    route('DELETE', file, pushCode, deleteFile(deps)),
  ]
}

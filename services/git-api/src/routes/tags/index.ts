import { type Route, route } from '@switchyard/service-kit/http'
import type { Dependencies } from '../../dependencies.js'
import { createTagEndpoint } from './create-tag.js'
import { deleteTagEndpoint } from './delete-tag.js'
import { getTagEndpoint } from './get-tag.js'
import { getTagSignatureEndpoint } from './get-tag-signature.js'
import { listTagsEndpoint } from './list-tags.js'

export function tagRoutes(deps: Dependencies): Route[] {
  const { readCode, pushCode } = deps.guards
  const tags = '/projects/:id/repository/tags'
  return [
    route('GET', tags, readCode, listTagsEndpoint(deps)),
    route('POST', tags, pushCode, createTagEndpoint(deps)),
    route('GET', `${tags}/:tag_name`, readCode, getTagEndpoint(deps)),
    route('GET', `${tags}/:tag_name/signature`, readCode, getTagSignatureEndpoint),
    route('DELETE', `${tags}/:tag_name`, pushCode, deleteTagEndpoint(deps)),
  ]
}

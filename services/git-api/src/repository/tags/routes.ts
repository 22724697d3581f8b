import type { Database, Project } from '@switchyard/db'
import type { Caller } from '@switchyard/domain/access'
import {
  created,
  endpoint,
  filledText,
  keysetParameters,
  keysetReply,
  noContent,
  ok,
  pageParameters,
  pageReply,
  proseCharsMax,
  type Route,
  route,
  text,
  unmodifiedSinceMs,
  unsupported,
  windowOf,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall, ProjectResourceDependencies } from '../../guards.js'
import { commitShape, presentCommit, presentSignature, signatureShape } from '../../shapes/commit.js'
import { nameRegex, nameSearch, optional } from '../../shapes/parameters.js'
import type { ReferenceDependencies } from '../references/references.js'
import type { TagView } from './tags.js'
import * as tags from './tags.js'

const tagShape = z
  .object({
    name: z.string(),
    message: z.string().meta({ description: 'Empty for a lightweight tag' }),
    target: z.string().meta({ description: 'Id of the object of an annotated tag, else of the commit' }),
    commit: commitShape.nullable(),
    release: z.object({ tag_name: z.string(), description: z.string().nullable() }).nullable(),
    protected: z.boolean(),
    created_at: z.date().nullable().meta({ description: 'Null for a lightweight tag' }),
  })
  .meta({ id: 'Tag', description: 'A tag and its commit' })

/** Returns a tag in GitLab's shape. */
const presentTag = (tag: TagView, project: Project, baseUrl: string): z.output<typeof tagShape> => ({
  name: tag.name,
  message: tag.message,
  target: tag.target,
  commit: tag.commit && presentCommit(tag.commit, project, baseUrl),
  release: tag.release && { tag_name: tag.name, description: tag.release.description },
  protected: tag.isProtected,
  created_at: tag.taggedAt,
})

export function tagRoutes(deps: ProjectResourceDependencies & ReferenceDependencies): Route[] {
  const { readCode, pushCode } = deps.guards
  const path = '/projects/:id/repository/tags'
  return [
    route('GET', path, readCode, listTags(deps.database)),
    route('POST', path, pushCode, createTag(deps)),
    route('GET', `${path}/:tag_name`, readCode, getTag(deps.database)),
    route('GET', `${path}/:tag_name/signature`, readCode, getTagSignature),
    route('DELETE', `${path}/:tag_name`, pushCode, deleteTag(deps)),
  ]
}

const listTagsInput = z.object({
  ...pageParameters,
  ...keysetParameters,
  search: nameSearch(),
  regex: nameRegex(),
  order_by: z.enum(['updated', 'name', 'version']).default('updated'),
  sort: z.enum(['desc', 'asc']).default('desc'),
})

const listTags = (database: Database) =>
  endpoint({
    summary: 'List tags',
    replies: { 200: z.array(tagShape) },
    refusals: [413],
    input: listTagsInput,
    async handle(
      { search, regex, order_by, sort, pagination, page_token, ...page },
      access: ProjectCall,
      call,
    ) {
      const window = windowOf(pagination, page_token, page)
      const query = { search, regex, order: order_by, descending: sort === 'desc', window }
      const found = await tags.listTags(database, access, query)
      const items = found.tags.map((tag) => presentTag(tag, access.project, call.baseUrl))
      return pagination === 'keyset'
        ? keysetReply(items, found.next, call)
        : pageReply(items, page, found.total, call)
    },
  })

const createTagInput = z.object({
  tag_name: filledText(),
  ref: filledText(),
  message: optional(text(proseCharsMax)),
  release_description: unsupported('is not supported: create a release of the tag'),
})

const createTag = (deps: ReferenceDependencies) =>
  endpoint({
    summary: 'Create a tag; with a message, the tag is annotated',
    replies: { 201: tagShape },
    input: createTagInput,
    async handle({ tag_name, ref, message = '' }, access: ProjectCall<Caller>, call) {
      const tag = await tags.createTag(deps, access, { name: tag_name, start: ref, message }, call)
      return created(presentTag(tag, access.project, call.baseUrl))
    },
  })

const getTag = (database: Database) =>
  endpoint({
    summary: 'Get a tag',
    replies: { 200: tagShape },
    refusals: [413],
    input: z.object({ tag_name: text() }),
    async handle({ tag_name }, access: ProjectCall, call) {
      return ok(presentTag(await tags.getTag(database, access, tag_name), access.project, call.baseUrl))
    },
  })

const getTagSignature = endpoint({
  summary: 'Get the kind of signature of a tag; signatures are not verified',
  replies: { 200: signatureShape },
  input: z.object({ tag_name: text() }),
  async handle({ tag_name }, access: ProjectCall) {
    return ok(presentSignature(await tags.readTagSignature(access, tag_name)))
  },
})

const deleteTag = (deps: ReferenceDependencies) =>
  endpoint({
    summary: 'Delete a tag',
    replies: { 204: null },
    refusals: [409, 412],
    input: z.object({ tag_name: text() }),
    async handle({ tag_name }, access: ProjectCall<Caller>, call) {
      await tags.deleteTag(deps, access, tag_name, unmodifiedSinceMs(call), call)
      return noContent()
    },
  })
